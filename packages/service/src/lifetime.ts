import type { FastifyBaseLogger } from 'fastify'

/**
 * In this order a service ends, one stage after the other: its listeners answer what reached them, its jobs end what they
 * began, connections to chains, hub and keys close, then database and files, and at last what tells of it all.
 */
export const stages = ['listeners', 'jobs', 'connections', 'state', 'operations'] as const

export type Stage = (typeof stages)[number]

/** Registers the end of a part; `In` limits the stages it may end in. */
export type Ending<In extends Stage = Stage> = {
  /** Within a stage, what was made last ends first. @param name for the log */
  readonly onClose: (stage: In, name: string, close: () => unknown) => void
}

/** Everything that a service has opened. */
export type Lifetime = Ending & {
  /** Closes all of it, in order and once; whoever asks again waits for the same. @returns how much could not be closed */
  close(): Promise<number>
}

type Part = { readonly name: string; close(): unknown }

export function createLifetime(logger: Pick<FastifyBaseLogger, 'error'>): Lifetime {
  const open = new Map<Stage, Part[]>(stages.map((stage) => [stage, []]))
  const late: Promise<void>[] = []
  let failures = 0
  let closing: Promise<number> | undefined

  /** A part that fails is logged and does not keep the later ones from closing. */
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
      const parts = open.get(stage) ?? []
      // A start that goes on meanwhile may add to it.
      for (let part = parts.pop(); part !== undefined; part = parts.pop()) await end(part)
      open.delete(stage)
    }
    await Promise.all(late)
    return failures
  }

  return {
    onClose(stage, name, close) {
      const parts = open.get(stage)
      if (parts === undefined) late.push(end({ name, close }))
      else parts.push({ name, close })
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}
