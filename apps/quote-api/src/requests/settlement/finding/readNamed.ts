import { createLruCache } from '@causeway/rpc'
import { takeFromAside } from '../../work/putAsideStore.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { readDepositCursor } from '../deposits/depositStore.ts'
import type { FindingContext } from './findDeposits.ts'
import { type FoundDeposit, keepRead, type ReadTransactions, readTransactions } from './foundDeposits.ts'

/** The part of a chain that reading transactions by name needs. */
export type NamedChain = Pick<SettlementChain, 'deposits'> & {
  readonly chain: Pick<SettlementChain['chain'], 'chainId' | 'codec'>
}

/** Keeps what some transactions hold, whatever a watcher has read. Those read now are put aside no longer. */
export async function keepTransactions(
  context: FindingContext,
  { chain: { chainId } }: NamedChain,
  { found, aside, empty }: Pick<ReadTransactions, 'found' | 'aside' | 'empty'>,
): Promise<void> {
  if (found.length + aside.length + empty.length === 0) return
  await context.database.transaction(async (tx) => {
    const cursor = await readDepositCursor(tx, chainId)
    // The watcher's time counts: a transaction is no earlier because somebody named it.
    await keepRead(context, tx, chainId, { found, aside }, (block) =>
      cursor !== undefined && block > cursor.scannedTo ? cursor.newestAtSeconds : undefined,
    )
    for (const transactionId of new Set([...found.map(({ txHash }) => txHash), ...empty]))
      await takeFromAside(tx, { chainId, transactionId, purpose: 'deposits' })
  })
}

const atOnce = 4
const pauseMs = 10_000
const namesMax = 10_000
const budgetMs = 10_000

/** Reads a transaction of a chain that somebody names. @returns the deposits in it, also those of nobody's order */
export type ReadNamed = (chainId: number, transaction: string) => Promise<readonly FoundDeposit[]>

/**
 * Reads named transactions within a budget: a name is anybody's, and costs nobody else anything. @source F-71
 * @param now milliseconds
 */
export function createReadNamed(
  context: FindingContext & { readonly chains: ReadonlyMap<number, NamedChain>; readonly now: () => number },
): ReadNamed {
  const readAtMs = createLruCache<number>(namesMax)
  const running = new Map<number, number>()
  return async (chainId, transaction) => {
    const chain = context.chains.get(chainId)
    const transactionId = chain && canonicalId(chain, transaction)
    if (chain === undefined || transactionId === undefined) return []
    const key = `${chainId} ${transactionId}`
    const count = running.get(chainId) ?? 0
    if (count >= atOnce || context.now() < (readAtMs.get(key) ?? -Infinity) + pauseMs) return []
    readAtMs.set(key, context.now())
    running.set(chainId, count + 1)
    try {
      const { found } = await readTransactions(chain, [transactionId], AbortSignal.timeout(budgetMs))
      // Unreadable transactions are put aside only where a watcher comes upon them: names cost nothing.
      await keepTransactions(context, chain, { found, aside: [], empty: [] })
      return found
    } finally {
      running.set(chainId, (running.get(chainId) ?? 1) - 1)
    }
  }
}

/** Undefined where the text names no transaction there. */
export function canonicalId({ chain: { codec } }: NamedChain, text: string): string | undefined {
  try {
    return codec.canonicalTransactionId(text)
  } catch {
    return undefined
  }
}
