import { DatabaseDiskFullError } from './errors.ts'

/** State of a server's disk, known from the last write: full or not. */
export interface DiskSpace {
  /** Maps `error` to the caller's error: a server that a full disk stopped is unavailable for that reason. */
  judge(error: unknown, isConnectionLost: boolean): unknown
  /** @throws DatabaseDiskFullError until something could be written again */
  requireSpace(): void
  close(): void
}

const probeIntervalMs = 2_000

/**
 * Remembers that a disk is full, and tries to write until it is not: reads go on meanwhile, so that neither
 * they nor a connection tell.
 * @param options.probe writes about a megabyte and leaves nothing behind
 */
export function createDiskSpace(options: {
  readonly probe: () => Promise<void>
  readonly onChange: (full: DatabaseDiskFullError | undefined) => void
}): DiskSpace {
  const { probe, onChange } = options
  let full: DatabaseDiskFullError | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const probeLater = () => {
    timer = setTimeout(() => void tryAgain(), probeIntervalMs).unref()
  }
  const tryAgain = async () => {
    try {
      await probe()
      full = undefined
      onChange(undefined)
    } catch {
      // Whatever keeps it from writing: it has not written.
      if (!isClosed) probeLater()
    }
  }
  return {
    judge(error, isConnectionLost) {
      if (error instanceof DatabaseDiskFullError) {
        const isNews = full === undefined
        full = error
        if (isNews && !isClosed) {
          onChange(error)
          probeLater()
        }
        return error
      }
      return full !== undefined && isConnectionLost ? new DatabaseDiskFullError({ cause: error }) : error
    },
    requireSpace() {
      if (full !== undefined) throw new DatabaseDiskFullError({ cause: full.cause })
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** Takes new pages from the disk as a table that grows does; the table is gone with its transaction. */
export async function writeProbe(tx: { query(text: string): Promise<unknown> }): Promise<void> {
  await tx.query(
    `create temporary table causeway_space on commit drop as
     select n, repeat(md5(n::text), 8) as filler from generate_series(1, 4000) n`,
  )
}
