import { DatabaseDiskFullError } from './errors.ts'

/** Knows if the disk of the server is full, by the last write. Each pool has one. */
export interface DiskSpace {
  /**
   * Notes an error for "disk full", and returns the error for the caller. While the disk is full a lost connection
   * counts as its consequence, since PostgreSQL may stop for it.
   */
  judge(error: unknown, isConnectionLost: boolean): unknown
  /** @throws DatabaseDiskFullError until something could be written again */
  requireSpace(): void
  close(): void
}

const probeIntervalMs = 2_000

/**
 * Remembers that the disk is full, and probes it by a write until it has room. Reads and connections still work on a
 * full disk, so their success proves nothing.
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
    timer = setTimeout(() => void probeNow(), probeIntervalMs).unref()
  }
  const probeNow = async () => {
    try {
      await probe()
      full = undefined
      onChange(undefined)
    } catch {
      // Any failure counts as "still full": nothing was written.
      if (!isClosed) probeLater()
    }
  }
  return {
    judge(error, isConnectionLost) {
      if (error instanceof DatabaseDiskFullError) {
        const wasFull = full !== undefined
        full = error
        if (!wasFull && !isClosed) {
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

/** Writes a temporary table, which needs new pages of the disk as a growing table does. It is dropped at commit. */
export async function writeProbe(tx: { query(text: string): Promise<unknown> }): Promise<void> {
  await tx.query(
    `create temporary table causeway_space on commit drop as
     select n, repeat(md5(n::text), 8) as filler from generate_series(1, 4000) n`,
  )
}
