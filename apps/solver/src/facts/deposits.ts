import { chainsAtDepth, isReadable, openFamilyChain } from '@causeway/chains'
import { type DepositFact, depthRuleFor, ordinalOf } from '@causeway/core'
import type { QuoteChain } from '@causeway/core/config'
import { codecOf } from '@causeway/core/encodings'
import type { FamilyChain, HubEntries, RegisteredChain } from '@causeway/families'
import { refundChainId } from '@causeway/families/rules'
import { TransactionMissingError, TransactionNotFinalError } from '@causeway/rpc'
import type { DepositPosition } from '../judge/signedOrder.ts'
import { depositKey, depositOfKey, type SeenDeposit } from '../judge/verdict.ts'
import type { HeadSights } from './headSights.ts'

/** A chain that orders may be paid in on. */
export type OriginChain = {
  readonly chain: RegisteredChain
  readonly config: Pick<QuoteChain, 'chainId' | 'pinPolicy'>
}

/** Deposits as a quorum of our own endpoints shows them. */
export interface DepositReader {
  /**
   * The one deposit at this position, or none, once it is as deep as its chain asks for this value; `undefined` while the
   * transaction is not that deep, or not there at all.
   * @throws DomainError where endpoints are silent or contradict each other
   */
  read(position: DepositPosition, valueMicroUsd: bigint): Promise<readonly SeenDeposit[] | undefined>
  /**
   * The index that a deposit has in its transaction now: a block that brings it back may give it another one.
   * @param key as `depositKey`
   * @returns undefined also where no deposit there has that key
   * @throws DomainError as above
   */
  indexOf(key: string, transactionId: string, valueMicroUsd: bigint): Promise<string | undefined>
  close(): Promise<void>
}

type TransactionName = Pick<DepositPosition, 'chainId' | 'transactionId'>
/** A deposit with the index that it has in its transaction now. */
type IndexedDeposit = { readonly onchainIndex: string; readonly deposit: SeenDeposit }

const readTimeoutMs = 6_000

/**
 * Opens no connection before the first reading.
 * @param heads when this process first saw blocks of a height
 * @param hubEntries entries of the hub that name an order, for chains whose transfers name none
 * @source F-101
 */
export function createDepositReader(
  origins: readonly OriginChain[],
  heads: Pick<HeadSights, 'secondsSince'>,
  hubEntries?: HubEntries,
): DepositReader {
  const originByChainId = new Map(origins.map((origin) => [origin.config.chainId, origin]))
  const deepChains = createDeepChains(hubEntries)

  /**
   * Every deposit of a transaction; undefined while it is not deep enough, or not there. A chain that is not
   * quoted or cannot be read has none.
   */
  async function readTransaction(
    transaction: TransactionName,
    valueMicroUsd: bigint,
  ): Promise<readonly IndexedDeposit[] | undefined> {
    const origin = originByChainId.get(transaction.chainId)
    if (origin === undefined) return []
    try {
      return await readDeep(transaction, valueMicroUsd, { origin, heads, deepChains })
    } catch (error) {
      if (error instanceof TransactionNotFinalError || error instanceof TransactionMissingError)
        return undefined
      throw error
    }
  }

  return {
    async read(position, valueMicroUsd) {
      const indexed = await readTransaction(position, valueMicroUsd)
      return indexed?.flatMap(({ onchainIndex, deposit }) =>
        onchainIndex === position.onchainIndex ? [deposit] : [],
      )
    },
    async indexOf(key, transactionId, valueMicroUsd) {
      const chainId = depositOfKey(key)?.chainId
      if (chainId === undefined) return undefined
      const indexed = await readTransaction({ chainId, transactionId }, valueMicroUsd)
      return indexed?.find(({ deposit }) => depositKey(deposit) === key)?.onchainIndex
    },
    close: deepChains.close,
  }
}

/**
 * Reads a transaction's deposits by each finality rule that its worth demands, and checks how long ago its block came.
 * @throws TransactionNotFinalError, TransactionMissingError
 */
async function readDeep(
  transaction: TransactionName,
  valueMicroUsd: bigint,
  reading: { origin: OriginChain; heads: Pick<HeadSights, 'secondsSince'>; deepChains: DeepChains },
): Promise<readonly IndexedDeposit[]> {
  const { origin, heads, deepChains } = reading
  const { chainId, transactionId } = transaction
  const rule = depthRuleFor(origin.config.pinPolicy, valueMicroUsd)
  const signal = AbortSignal.timeout(readTimeoutMs)
  const readings = chainsAtDepth(origin.chain, rule).map((deep) =>
    deepChains.openAt(deep)?.reader.readDeposits({ transactionId }, { signal }),
  )
  // Every finality rule must show the transaction. `chainsAtDepth` puts the deepest last, and its facts count.
  const facts = (await Promise.all(readings)).at(-1)
  if (facts === undefined) return []
  const { blockNumber } = facts.evidence
  // The rule also asks for how long the block was seen, unless there is none or the chain calls it final.
  const seenSeconds =
    blockNumber === undefined || rule.isFinalized ? rule.seconds : heads.secondsSince(chainId, blockNumber)
  // `readTransaction` catches this error, so nobody waits for its `waitSeconds`.
  if (seenSeconds < rule.seconds)
    throw new TransactionNotFinalError({ ...transaction, chainId: origin.chain.id, waitSeconds: 1 })
  return indexedDeposits(transaction, origin.chain, facts.deposits)
}

/** Every deposit of a transaction with the index that it has there. */
function indexedDeposits(
  { chainId, transactionId }: TransactionName,
  chain: RegisteredChain,
  deposits: readonly DepositFact[],
): readonly IndexedDeposit[] {
  const codec = codecOf(chain)
  return deposits.map((fact) => ({
    onchainIndex: fact.onchainIndex,
    deposit: {
      chainId,
      chainKey: chain.id,
      refundChainId: refundChainId(chain, chainId),
      // Lower case in every family, as `refundedDeposit` has it in ids of refunds.
      transactionId: transactionId.toLowerCase(),
      ordinal: ordinalOf(fact, deposits),
      orderId: fact.depositId,
      depositor: codec.spellAddress(fact.depositor),
      currency: codec.canonicalAddress(fact.currency),
      amount: fact.amount,
      inTransaction: sumInTransaction(fact, deposits),
    },
  }))
}

/** Sum of the transaction's deposits for the same order in the same currency. */
function sumInTransaction(
  { depositId, currency }: DepositFact,
  deposits: readonly Pick<DepositFact, 'depositId' | 'currency' | 'amount'>[],
): bigint {
  return deposits
    .filter((other) => other.depositId === depositId && other.currency === currency)
    .reduce((sum, { amount }) => sum + amount, 0n)
}

type DeepChains = ReturnType<typeof createDeepChains>

/** Opens one reader per chain and finality rule, and keeps it. */
function createDeepChains(hubEntries: HubEntries | undefined) {
  const open = new Map<string, FamilyChain>()
  return {
    openAt(deep: RegisteredChain): FamilyChain | undefined {
      const key = `${deep.id} ${JSON.stringify(deep.finality)}`
      const cached = open.get(key)
      if (cached !== undefined) return cached
      if (!isReadable(deep)) return undefined
      // Nothing is kept: a block that is deep enough is not final, and its deposits may be gone or elsewhere next time.
      const opened = openFamilyChain(deep, { finalEntriesMax: 0 }, hubEntries)
      open.set(key, opened)
      return opened
    },
    async close(): Promise<void> {
      await Promise.all([...open.values()].map((chain) => chain.close()))
    },
  }
}
