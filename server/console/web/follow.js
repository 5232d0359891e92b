import { own } from './lib.js';

const again = 3000; // ms until a stream that was interrupted is opened again

// follow reads server-sent events, as EventSource does, which cannot send the token. After an
// interruption it goes on behind the last event. close ends it.
export function follow(path, { open, message, interrupted, refused }) {
  const leave = new AbortController();
  let last;
  const read = async () => {
    const response = await fetch(path, {
      headers: { ...own(), ...(last && { 'Last-Event-ID': last }) },
      signal: leave.signal,
      cache: 'no-store',
    });
    if (response.status >= 400 && response.status < 500) return true;
    if (!response.ok) return false;
    open();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; ;) {
      const { done, value } = await reader.read();
      if (done) return false;
      const events = (text + value).split('\n\n');
      text = events.pop();
      for (const lines of events.map(e => e.split('\n'))) {
        last = field(lines, 'id') ?? last;
        const data = field(lines, 'data');
        if (data !== undefined && !leave.signal.aborted) message(data);
      }
    }
  };
  const run = async () => {
    while (!leave.signal.aborted) {
      if (await read().catch(() => false)) return refused();
      if (leave.signal.aborted) return;
      interrupted();
      await new Promise(done => setTimeout(done, again));
    }
  };
  run();
  return { close: () => leave.abort() };
}

const field = (lines, name) => lines.find(l => l.startsWith(`${name}: `))?.slice(name.length + 2);
