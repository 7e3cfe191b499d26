import type { FastifyBaseLogger } from 'fastify'

/**
 * Stages in which a stopping service closes its parts, in this order. Each needs the later ones:
 * `listeners` answer the requests that reached them; `jobs` finish what they began; `connections` are those to chains, hub
 * and keys; `state` is database and files; `operations` is the ops listener and traces.
 */
export const stages = ['listeners', 'jobs', 'connections', 'state', 'operations'] as const

export type Stage = (typeof stages)[number]

/** Registers how a part closes. `In` limits the stages that it may choose. */
export type Ending<In extends Stage = Stage> = {
  /** Within a stage the part that was registered last closes first. @param name for the log */
  readonly onClose: (stage: In, name: string, close: () => unknown) => void
}

/** All parts that a service has opened and must close. */
export type Lifetime = Ending & {
  /** Closes everything once, stage by stage; later calls wait for the same. @returns the number of parts that failed */
  close(): Promise<number>
}

type Part = { readonly name: string; close(): unknown }

export function createLifetime(logger: Pick<FastifyBaseLogger, 'error'>): Lifetime {
  const partsByStage = new Map<Stage, Part[]>(stages.map((stage) => [stage, []]))
  /** Ends of parts that were registered after their stage had closed. */
  const lateEnds: Promise<void>[] = []
  let failures = 0
  let closing: Promise<number> | undefined

  /** Closes one part. A failure is logged and does not stop the closing of others. */
  async function end({ name, close }: Part): Promise<void> {
    try {
      await close()
    } catch (error) {
      failures += 1
      logger.error({ err: error, closer: name }, 'could not close')
    }
  }

  async function closeAll(): Promise<number> {
    for (const stage of stages) {
      const parts = partsByStage.get(stage) ?? []
      // `pop` in each turn, because a start that is still running may register parts meanwhile.
      for (let part = parts.pop(); part !== undefined; part = parts.pop()) await end(part)
      partsByStage.delete(stage)
    }
    await Promise.all(lateEnds)
    return failures
  }

  return {
    onClose(stage, name, close) {
      const parts = partsByStage.get(stage)
      // The stage is closed already, so the part closes immediately.
      if (parts === undefined) lateEnds.push(end({ name, close }))
      else parts.push({ name, close })
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}
