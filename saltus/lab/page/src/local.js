/** Connection to a simulation in this page: a worker sends the messages of a server. */

export class LocalConnection {
  /**
   * @param {{message, frame, state, misunderstood}} to as for Connection
   * @param {HTMLElement[]} scenes elements with contents in base64, see saltus/lab/standalone/page.py
   * @param {string} script of the worker
   * @param {[name, text][]} link applied before the first step; `scene` chooses among several
   */
  constructor(to, scenes, script, link) {
    this.to = to;
    this.asked = new Map();
    this.scenes = scenes;
    this.source = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    this.begin(link);
  }

  /** Start the scene of a link anew; without one there the present scene, at first the first one. */
  begin(link) {
    const wanted = link.find(([name]) => name === 'scene')?.[1] ?? this.present ?? this.scenes[0].dataset.name;
    const scene = this.scenes.find(({ dataset }) => dataset.name === wanted);
    this.present = (scene ?? this.scenes[0]).dataset.name;
    this.worker?.terminate();
    for (const { fail } of this.asked.values()) fail(new Error('another simulation has begun'));
    this.asked.clear();
    const worker = new Worker(this.source);
    worker.onmessage = ({ data }) => this.receive(data);
    worker.onerror = ({ message }) => this.ended(message);
    this.worker = worker;
    const page = Uint8Array.from(atob((scene ?? this.scenes[0]).textContent), (letter) => letter.charCodeAt(0));
    // an unknown scene is left in the link, which then names it in a notice
    worker.postMessage({ page, link: scene ? link.filter(([name]) => name !== 'scene') : link }, [page.buffer]);
    this.to.state(null);
  }

  /** Do nothing: without a server there is no connection to reopen. */
  open() {}

  receive({ message, frame, error, id, answer, failed }) {
    if (error) this.ended(error);
    else if (id !== undefined) this.answered(id, answer, failed);
    else {
      try {
        if (message) this.to.message(message.type === 'hello' ? this.greeting(message) : message);
        else this.to.frame(frame);
      } catch (wrong) {
        this.to.misunderstood(wrong);
      }
    }
  }

  /** The greeting with all scenes of the page. */
  greeting(hello) {
    const scenes = this.scenes.map(({ dataset }) => ({ name: dataset.name, title: dataset.title, group: '' }));
    return { ...hello, scenes: scenes.length > 1 ? scenes : hello.scenes };
  }

  ended(text) {
    this.to.state(`The simulation has stopped: ${text}. Reload the page to begin again.`, true);
  }

  answered(id, answer, failed) {
    const { take, fail } = this.asked.get(id);
    this.asked.delete(id);
    if (failed === undefined) take(answer);
    else fail(new Error(failed));
  }

  send(type, fields = {}) {
    if (type === 'scene') return this.begin([['scene', fields.name]]);
    return this.worker.postMessage({ command: { type, ...fields } });
  }

  /** Content of a download: "state.py" or "trajectory.csv". */
  async file(name) {
    const text = await this.answer(name === 'state.py' ? 'state' : 'table');
    return new Response(text, { headers: { 'Content-Type': 'text/plain;charset=utf-8' } });
  }

  /** Settings of a link: see worker/link.js; with the scene where there are several. */
  async link(now) {
    const scene = this.scenes.length > 1 ? { scene: this.present } : {};
    return { ...scene, ...await this.answer('link', { now }) };
  }

  /** The worker's answer: "state", "table" or "link". */
  answer(ask, fields = {}) {
    const id = this.asked.size + Math.random();
    return new Promise((take, fail) => {
      this.asked.set(id, { take, fail });
      this.worker.postMessage({ ask, id, ...fields });
    });
  }

  /** Links have no address: a click downloads. */
  address() {
    return '#';
  }
}
