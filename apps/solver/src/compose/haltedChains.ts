import { setTimeout as sleep } from 'node:timers/promises'
import { askHalts, askHaltsEveryMs, keepHalts, type OracleSettings, type OracleSight } from '@causeway/chains'
import type { SqlDatabase } from '@causeway/core'
import type { Logger } from 'pino'

/** Chains that too few oracles sign for. */
export interface HaltedChains {
  /** @param key as orders name the chain */
  has(key: string): boolean
  close(): Promise<void>
}

/**
 * Asks the oracles again and again which chains they halted, the first time before this resolves. An oracle's last answer
 * is kept in the database and counts while the oracle is silent.
 * @param options.oracles undefined: none is asked, and kept answers are deleted, since no oracle could take them back
 * @source rule O-65
 */
export async function watchHalts(options: {
  readonly database: Pick<SqlDatabase, 'transaction'>
  readonly oracles: OracleSettings | undefined
  /** Notes which oracles answered. */
  readonly sight: Pick<OracleSight, 'note'> | undefined
  readonly chains: readonly { readonly key: string; readonly chainId: number }[]
  readonly logger: Logger
}): Promise<HaltedChains> {
  const { database, chains, logger, sight, oracles = { oracles: [], threshold: 1 } } = options
  const closing = new AbortController()
  let halted: readonly string[] = []
  async function ask(): Promise<void> {
    const answers = await askHalts(oracles, chains, closing.signal)
    sight?.note(answers)
    const ids = await database.transaction((tx) => keepHalts(tx, answers, oracles))
    const haltedNow = chains.flatMap(({ key, chainId }) => (ids.includes(chainId) ? [key] : []))
    if (haltedNow.join() !== halted.join())
      logger.warn({ event: 'chains_halted', chains: haltedNow }, 'oracles halt other chains from now on')
    halted = haltedNow
  }
  async function repeat(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(askHaltsEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
      await ask().catch((error: unknown) =>
        logger.warn({ event: 'halts_not_kept', err: error }, 'what oracles halt now is not known'),
      )
    }
  }
  await ask()
  const ended = oracles.oracles.length === 0 ? undefined : repeat()
  return {
    has: (key) => halted.includes(key),
    async close() {
      closing.abort()
      await ended
    },
  }
}
