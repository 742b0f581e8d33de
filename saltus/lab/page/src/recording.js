/** Controls to record, render a video, and download. */

import { byId } from './dom.js';
import { Downloads } from './downloads.js';

const FILES = { 'download-trajectory': 'trajectory.nc', 'download-video': 'video.mp4', 'download-report': 'report.html' };
const LOCAL_FILES = { 'download-trajectory': 'trajectory.csv' };

export class Recording {
  /** @param {boolean} local whether the simulation runs in this page, which draws no videos and writes no reports */
  constructor(connection, local) {
    this.now = {};
    byId('record').onclick = () => connection.send('record', { on: !this.now.recording });
    byId('make-video').onclick = () => connection.send('video');
    const downloads = new Downloads(connection);
    for (const [id, file] of Object.entries(local ? LOCAL_FILES : FILES)) {
      downloads.follow(byId(id));
      byId(id).dataset.address = connection.address(file);
      byId(id).download = file;
    }
    if (local) byId('download-trajectory').textContent = 'Trajectory (CSV)';
  }

  update(status, writer) {
    const now = Object.assign(this.now, status);
    const video = now.video ?? { state: 'none' };
    byId('record').textContent = now.recording ? 'Stop recording' : 'Record';
    byId('record').setAttribute('aria-pressed', String(Boolean(now.recording)));
    byId('record').classList.toggle('recording', Boolean(now.recording));
    byId('make-video').disabled = !writer || !(now.recorded > 0) || now.recording || video.state === 'drawing';
    byId('video-progress').hidden = video.state !== 'drawing';
    byId('video-progress').value = video.done ?? 0;
    byId('recorded').textContent = this.sentence(now, video);
    const there = now.recorded > 0 && !now.recording;
    offer('download-trajectory', there);
    offer('download-report', there);
    offer('download-video', video.state === 'ready');
  }

  sentence({ recording, recorded }, video) {
    if (video.state === 'drawing') return `Drawing the video: ${Math.round(100 * (video.done ?? 0))} %`;
    if (video.state === 'failed') return `The video failed: ${video.message}`;
    if (recording) return `Recording: ${(recorded ?? 0).toFixed(2)} s`;
    return recorded > 0 ? `${recorded.toFixed(2)} s recorded.` : 'Nothing recorded yet.';
  }
}

/** A link that is active only while there is a file to download. */
function offer(id, there) {
  const link = byId(id);
  if (there) link.href = link.dataset.address;
  else link.removeAttribute('href');
  link.ariaDisabled = String(!there);
}
