/** Connection to a simulation in this page: a worker sends the messages of a server. */

export class LocalConnection {
  /**
   * @param {{message, frame, state, misunderstood}} to as for Connection
   * @param {string} contents base64, see saltus/lab/standalone/page.py
   * @param {string} script of the worker
   * @param {[name, text][]} link applied before the first step
   */
  constructor(to, contents, script, link) {
    this.to = to;
    this.asked = new Map();
    const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = ({ message }) => this.ended(message);
    const page = Uint8Array.from(atob(contents), (letter) => letter.charCodeAt(0));
    this.worker.postMessage({ page, link }, [page.buffer]);
    to.state(null);
  }

  /** Do nothing: without a server there is no connection to reopen. */
  open() {}

  receive({ message, frame, error, id, answer, failed }) {
    if (error) this.ended(error);
    else if (id !== undefined) this.answered(id, answer, failed);
    else {
      try {
        if (message) this.to.message(message);
        else this.to.frame(frame);
      } catch (wrong) {
        this.to.misunderstood(wrong);
      }
    }
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
    this.worker.postMessage({ command: { type, ...fields } });
  }

  /** Content of a download: "state.py" or "trajectory.csv". */
  async file(name) {
    const text = await this.answer(name === 'state.py' ? 'state' : 'table');
    return new Response(text, { headers: { 'Content-Type': 'text/plain;charset=utf-8' } });
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
