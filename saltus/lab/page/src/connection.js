/** Connection to the server: JSON as text, frames as binary, reconnecting after a failure. */

const FIRST_WAIT = 500;  // ms
const LONGEST_WAIT = 5000;

export class Connection {
  /**
   * @param {{message: (object) => void, frame: (ArrayBuffer) => void, state: (text: string|null) => void}} to
   *   what the server sends goes here; state(null) when connected, else why not
   */
  constructor(to) {
    this.to = to;
    this.wait = FIRST_WAIT;
    const { protocol, host, search } = location;
    const token = new URLSearchParams(search).get('token') ?? '';
    this.query = `?token=${encodeURIComponent(token)}`;
    this.url = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/ws${this.query}`;
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    const socket = new WebSocket(this.url);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.to.state(null);
    };
    socket.onmessage = ({ data }) => this.receive(data);
    socket.onclose = (event) => this.closed(event);
    this.socket = socket;
  }

  receive(data) {
    try {
      if (typeof data === 'string') this.to.message(JSON.parse(data));
      else this.to.frame(data);
    } catch (error) {
      this.to.misunderstood(error);
    }
  }

  closed({ code, reason }) {
    // the server refused this page: reconnecting at once would not help
    const refused = code >= 4000 && code < 5000;
    this.to.state(refused ? `The server closed the connection: ${reason || code}` : 'The lab is not answering.', refused);
    if (refused) return;
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  /** Send a command; nothing happens while there is no connection. */
  send(type, fields = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type, ...fields }));
  }

  /** Content of a download: "state.py" or a file of the recording. */
  file(name, options) {
    return fetch(this.address(name), options);
  }

  /** Address of a download, with the token. */
  address(name) {
    return `${name === 'state.py' ? '' : '/download'}/${name}${this.query}`;
  }
}
