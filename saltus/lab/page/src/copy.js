/** Copies of the state as Python text and of the view as a picture. */

import { byId } from './dom.js';
import { save } from './downloads.js';
import { notice } from './notices.js';

/** Copy the present state to the clipboard; if the browser does not allow it, show it for manual copying. */
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

/** Download a picture of the view, without overlays of the page. */
export async function savePicture(stage, name) {
  save(await stage.picture(), `${name}.png`);
}
