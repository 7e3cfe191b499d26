import { createLruCache } from '@causeway/rpc'
import { takeFromAside } from '../../work/putAsideStore.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { readDepositCursor } from '../deposits/depositCursor.ts'
import {
  type FindingContext,
  type FoundDeposit,
  keepRead,
  type ReadTransactions,
  readTransactions,
} from './foundDeposits.ts'

/** The part of a chain that reading transactions by name needs. */
export type NamedChain = Pick<SettlementChain, 'deposits'> & {
  readonly chain: Pick<SettlementChain['chain'], 'chainId' | 'codec'>
}

/** Stores what was read of named transactions, independently of the watcher; those are no longer put aside. */
export async function keepTransactions(
  context: FindingContext,
  { chain: { chainId } }: NamedChain,
  { found, aside, empty }: Pick<ReadTransactions, 'found' | 'aside' | 'empty'>,
): Promise<void> {
  if (found.length + aside.length + empty.length === 0) return
  await context.database.transaction(async (tx) => {
    const cursor = await readDepositCursor(tx, chainId)
    // A block above the watcher's cursor is later than the watcher's last look, whoever names its transaction.
    await keepRead(context, tx, chainId, { found, aside }, (block) =>
      cursor !== undefined && block > cursor.scannedTo ? cursor.newestAtSeconds : undefined,
    )
    for (const transactionId of new Set([...found.map(({ txHash }) => txHash), ...empty]))
      await takeFromAside(tx, { chainId, transactionId, purpose: 'deposits' })
  })
}

const readingsPerChainMax = 4
/** Least time between two readings of one transaction. */
const pauseMs = 10_000
const rememberedNamesMax = 10_000
const readTimeoutMs = 10_000

/** Reads a transaction that a caller names, ahead of the watcher. @returns its deposits, also those of unknown orders */
export type ReadNamed = (chainId: number, transaction: string) => Promise<readonly FoundDeposit[]>

/**
 * Makes that reading, with limits, because anybody may name any transaction. Beyond the limits it returns nothing. @source F-71
 * @param context.now Unix milliseconds
 */
export function createReadNamed(
  context: FindingContext & { readonly chains: ReadonlyMap<number, NamedChain>; readonly now: () => number },
): ReadNamed {
  const readAtMs = createLruCache<number>(rememberedNamesMax)
  const running = new Map<number, number>()
  return async (chainId, transaction) => {
    const chain = context.chains.get(chainId)
    const transactionId = chain && canonicalId(chain, transaction)
    if (chain === undefined || transactionId === undefined) return []
    const key = `${chainId} ${transactionId}`
    const count = running.get(chainId) ?? 0
    if (count >= readingsPerChainMax || context.now() < (readAtMs.get(key) ?? -Infinity) + pauseMs) return []
    readAtMs.set(key, context.now())
    running.set(chainId, count + 1)
    try {
      const { found } = await readTransactions(chain, [transactionId], AbortSignal.timeout(readTimeoutMs))
      // Only the watcher puts unreadable transactions aside, because a caller could name any number of them.
      // One without a deposit is nothing to store; if it was put aside before, its own retry ends that.
      await keepTransactions(context, chain, { found, aside: [], empty: [] })
      return found
    } finally {
      running.set(chainId, (running.get(chainId) ?? 1) - 1)
    }
  }
}

/** The id in its canonical spelling; undefined if the text is no transaction id of the chain. */
export function canonicalId({ chain: { codec } }: NamedChain, text: string): string | undefined {
  try {
    return codec.canonicalTransactionId(text)
  } catch {
    return undefined
  }
}
