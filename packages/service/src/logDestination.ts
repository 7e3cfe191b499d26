import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Bytes that a pipe takes atomically, so that no other line comes between. @source POSIX, PIPE_BUF on Linux */
const atOnceBytes = 4_096
/** Limit of bytes that wait for a slow reader; more is dropped. */
const waitingBytesMax = 1 << 20

export type LogDestination = DestinationStream & {
  /** Lines of requests that a slow reader made us drop. */
  dropped(): number
  /** Writes what waits, whatever it takes. */
  flush(): void
}

type Metadata = { readonly lastObj?: unknown }

/**
 * Standard output. Most lines are written at once: one that waits is lost, or overtaken, when the process ends. Lines of
 * requests come by the thousand and wait instead, in bounded memory: whoever reads the log slowly, or not at all, must
 * not stop a service.
 */
export function createLogDestination(fileDescriptor = 1): LogDestination {
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let dropped = 0
  let isWriting = false

  /** As many whole lines as are written as one. A longer line goes alone. */
  function takeChunk(): Buffer {
    let count = 0
    let bytes = 0
    for (const line of waiting) {
      if (count > 0 && bytes + line.length > atOnceBytes) break
      count += 1
      bytes += line.length
    }
    waitingBytes -= bytes
    return Buffer.concat(waiting.splice(0, count))
  }

  function writeNext(): void {
    if (isWriting || waiting.length === 0) return
    isWriting = true
    writeWhole(takeChunk())
  }

  function writeWhole(chunk: Buffer): void {
    write(fileDescriptor, chunk, (error, written) => {
      if (error === null && written < chunk.length) return writeWhole(chunk.subarray(written))
      if (error?.code === 'EAGAIN') {
        setTimeout(() => writeWhole(chunk), 10)
        return
      }
      // Nobody reads any more: there is nobody to tell either.
      isWriting = false
      writeNext()
    })
  }

  const destination = {
    lastObj: undefined as unknown,
    [Symbol.for('pino.metadata')]: true,
    write(line: string) {
      const bytes = Buffer.from(line)
      if (!isRequestLine(destination)) return writeAtOnce(fileDescriptor, bytes)
      if (waitingBytes + bytes.length > waitingBytesMax) {
        dropped += 1
        return
      }
      waiting.push(bytes)
      waitingBytes += bytes.length
      // At the end of the turn: lines of one turn go together.
      if (waiting.length === 1) setImmediate(writeNext)
    },
    dropped: () => dropped,
    flush() {
      while (waiting.length > 0) writeAtOnce(fileDescriptor, takeChunk())
    },
  }
  process.once('exit', () => destination.flush())
  return destination
}

const isRequestLine = ({ lastObj }: Metadata): boolean =>
  typeof lastObj === 'object' && lastObj !== null && 'event' in lastObj && lastObj.event === 'request'

function writeAtOnce(fileDescriptor: number, bytes: Buffer): void {
  let rest = bytes
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fileDescriptor, rest))
    } catch (error) {
      // A pipe that does not block is full for the moment.
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') continue
      // Nobody reads any more.
      return
    }
  }
}
