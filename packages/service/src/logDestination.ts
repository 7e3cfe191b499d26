import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Bytes that a pipe takes atomically, so that no other line comes between. @source POSIX, PIPE_BUF on Linux */
const atOnceBytes = 4_096
/** Most bytes of request lines that wait for a slow reader; further lines are dropped. */
const waitingBytesMax = 1 << 20

export type LogDestination = DestinationStream & {
  /** Number of request lines that were dropped. */
  dropped(): number
  /** Writes all waiting lines synchronously, even if the reader is slow. */
  flush(): void
}

/** Member that pino sets on a destination before each `write`: `lastObj` holds the fields of the line. */
type Metadata = { readonly lastObj?: unknown }

/**
 * Destination of the log, standard output by default. Most lines are written synchronously, so that none is lost or
 * reordered when the process ends. Request lines come by the thousand, so they are queued and written asynchronously, in
 * bounded memory: a slow reader of the log, or none, must not block the service.
 */
export function createLogDestination(fileDescriptor = 1): LogDestination {
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let dropped = 0
  let isWriting = false

  /** Takes as many whole lines as fit into one atomic write, or one line that is longer. */
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

  /** Writes a chunk asynchronously until all of it is taken, then the next one. */
  function writeWhole(chunk: Buffer): void {
    write(fileDescriptor, chunk, (error, written) => {
      if (error === null && written < chunk.length) return writeWhole(chunk.subarray(written))
      if (error?.code === 'EAGAIN') {
        setTimeout(() => writeWhole(chunk), 10)
        return
      }
      // Done, or the reader is gone. The latter cannot be logged, so errors are ignored.
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
      // At the end of the event loop's turn, so that lines of one turn are written together.
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
  let remaining = bytes
  while (remaining.length > 0) {
    try {
      remaining = remaining.subarray(writeSync(fileDescriptor, remaining))
    } catch (error) {
      // A non-blocking pipe is full: try again until its reader has made room.
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') continue
      // The reader is gone.
      return
    }
  }
}
