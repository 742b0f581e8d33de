/** What can be taken along: the state as Python text, a picture of the view. */

import { byId } from './dom.js';
import { save } from './downloads.js';
import { notice } from './notices.js';

/** Put the present state into the clipboard; where the browser does not let it, show it to be copied by hand. */
export async function copyState(connection) {
  let text;
  try {
    const response = await connection.file('state.py');
    text = await response.text();
    if (!response.ok) throw new Error(text.trim());
  } catch (error) {
    notice('error', `The state cannot be copied: ${error.message}`);
    return;
  }
  try {
    await navigator.clipboard.writeText(text);
    notice('info', 'The state is in the clipboard, as Python text.');
  } catch {
    byId('state-text').value = text;
    byId('state').showModal();
    byId('state-text').select();
  }
}

/** Download the view as it is, without what lies over it. */
export async function savePicture(stage, name) {
  save(await stage.picture(), `${name}.png`);
}
