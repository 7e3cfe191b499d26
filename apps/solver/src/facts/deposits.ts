import { atDepth, isReadable, openFamilyChain } from '@causeway/chains'
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
   * The one deposit at the named place, or none, at the depth that its chain asks for this value; `undefined` while
   * the transaction is not that deep, or not there at all.
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

type Place = Pick<DepositPosition, 'chainId' | 'transactionId'>
type Placed = { readonly onchainIndex: string; readonly deposit: SeenDeposit }

const readTimeoutMs = 6_000

/** Sum of the transaction's deposits for the same order in the same currency. */
function sumInTransaction(
  { depositId, currency }: DepositFact,
  deposits: readonly Pick<DepositFact, 'depositId' | 'currency' | 'amount'>[],
): bigint {
  return deposits
    .filter((other) => other.depositId === depositId && other.currency === currency)
    .reduce((sum, { amount }) => sum + amount, 0n)
}

/** Every deposit of a transaction with the index that it has there. */
function placedDeposits(
  { chainId, transactionId }: Place,
  chain: RegisteredChain,
  deposits: readonly DepositFact[],
): readonly Placed[] {
  const codec = codecOf(chain)
  return deposits.map((fact) => ({
    onchainIndex: fact.onchainIndex,
    deposit: {
      chainId,
      chainKey: chain.id,
      refundChainId: refundChainId(chain, chainId),
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

/**
 * Opens no connection before the first reading.
 * @param heads when this process first saw blocks of a height
 * @param hubEntries what the hub says deposits are for, on chains whose transfers name no order
 * @source F-101
 */
export function createDepositReader(
  origins: readonly OriginChain[],
  heads: Pick<HeadSights, 'secondsSince'>,
  hubEntries?: HubEntries,
): DepositReader {
  const byChainId = new Map(origins.map((origin) => [origin.config.chainId, origin]))
  const deepChains = createDeepChains(hubEntries)

  async function readAll(position: Place, valueMicroUsd: bigint): Promise<readonly Placed[]> {
    const origin = byChainId.get(position.chainId)
    if (origin === undefined) return []
    const { chain } = origin
    const rule = depthRuleFor(origin.config.pinPolicy, valueMicroUsd)
    const signal = AbortSignal.timeout(readTimeoutMs)
    const readings = atDepth(chain, rule).map((deep) =>
      deepChains.openAt(deep)?.reader.readDeposits({ transactionId: position.transactionId }, { signal }),
    )
    // Every depth must show the transaction; the deepest is read last, and its facts count.
    const facts = (await Promise.all(readings)).at(-1)
    if (facts === undefined) return []
    const { blockNumber } = facts.evidence
    const seenSeconds =
      blockNumber === undefined || rule.isFinalized
        ? rule.seconds
        : heads.secondsSince(position.chainId, blockNumber)
    if (seenSeconds < rule.seconds)
      throw new TransactionNotFinalError({ ...position, chainId: chain.id, waitSeconds: 1 })
    return placedDeposits(position, chain, facts.deposits)
  }

  /** Undefined while the transaction is not deep enough, or not there. */
  async function readDeep(place: Place, valueMicroUsd: bigint): Promise<readonly Placed[] | undefined> {
    try {
      return await readAll(place, valueMicroUsd)
    } catch (error) {
      if (error instanceof TransactionNotFinalError || error instanceof TransactionMissingError)
        return undefined
      throw error
    }
  }

  return {
    async read(position, valueMicroUsd) {
      const placed = await readDeep(position, valueMicroUsd)
      return placed?.flatMap(({ onchainIndex, deposit }) =>
        onchainIndex === position.onchainIndex ? [deposit] : [],
      )
    },
    async indexOf(key, transactionId, valueMicroUsd) {
      const chainId = depositOfKey(key)?.chainId
      if (chainId === undefined) return undefined
      const placed = await readDeep({ chainId, transactionId }, valueMicroUsd)
      return placed?.find(({ deposit }) => depositKey(deposit) === key)?.onchainIndex
    },
    close: deepChains.close,
  }
}

/** Readers by depth: each depth opens its chain with a finality rule of its own, on which endpoints agree. */
function createDeepChains(hubEntries: HubEntries | undefined) {
  const open = new Map<string, FamilyChain>()
  return {
    openAt(deep: RegisteredChain): FamilyChain | undefined {
      const key = `${deep.id} ${JSON.stringify(deep.finality)}`
      const cached = open.get(key)
      if (cached !== undefined) return cached
      if (!isReadable(deep)) return undefined
      // Deep enough is not final: a deposit that was seen may be gone, or elsewhere, when it is paid for.
      const opened = openFamilyChain(deep, { finalEntriesMax: 0 }, hubEntries)
      open.set(key, opened)
      return opened
    },
    async close(): Promise<void> {
      await Promise.all([...open.values()].map((chain) => chain.close()))
    },
  }
}
