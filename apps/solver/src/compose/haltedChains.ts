import { setTimeout as sleep } from 'node:timers/promises'
import { askHalts, isHaltedBy, type OracleSettings } from '@causeway/chains'
import type { Logger } from 'pino'

const askEveryMs = 2_000

/** Chains that too few oracles sign for. */
export interface HaltedChains {
  /** @param key as orders name the chain */
  has(key: string): boolean
  close(): Promise<void>
}

/**
 * Asks the oracles again and again which chains they halted; the first time before this resolves. What one said last
 * holds while it is silent.
 * @source O-65
 */
export async function watchHalts(oracles: OracleSettings | undefined, logger: Logger): Promise<HaltedChains> {
  const closing = new AbortController()
  const words = new Map<string, readonly string[]>()
  let halted: ReadonlySet<string> = new Set()
  async function ask({ oracles: asked, threshold }: OracleSettings): Promise<void> {
    await Promise.all(
      asked.map(async (oracle) => {
        const keys = await askHalts(oracle, closing.signal)
        if (keys !== undefined) words.set(oracle.signer, [...new Set(keys)])
      }),
    )
    const told = [...words.values()].flat()
    const countOf = (key: string) => told.filter((one) => one === key).length
    const next = new Set(told.filter((key) => isHaltedBy(countOf(key), { oracles: asked, threshold })).sort())
    if ([...next].join() !== [...halted].join())
      logger.warn({ event: 'chains_halted', chains: [...next] }, 'oracles halt other chains from now on')
    halted = next
  }
  async function repeat(settings: OracleSettings): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(askEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
      await ask(settings)
    }
  }
  if (oracles !== undefined) await ask(oracles)
  const ended = oracles === undefined ? undefined : repeat(oracles)
  return {
    has: (key) => halted.has(key),
    async close() {
      closing.abort()
      await ended
    },
  }
}
