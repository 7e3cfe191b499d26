import { ConfigurationError, type DepositFacts, type InBlock, type PaymentFacts } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import { agreeOn, createLruCache, TransactionMissingError, TransactionRevertedError } from '@causeway/rpc'
import type { PaymentReading, SettlingChainFamily, SettlingPass } from '../../shared/settlingChain.ts'
import { unlessGone } from '../../shared/settlingReads.ts'
import { createTimeAsHeight } from '../../shared/timeAsHeight.ts'
import { parseTime, statusCall } from '../quoting/calls.ts'
import { explorersBeside } from '../quoting/connectHyperliquid.ts'
import { createHyperliquidFactsReader } from '../reading/factsReader.ts'
import { NonceMappingMissingError } from '../reading/hyperliquidErrors.ts'
import { createDepositClaims } from './depositClaims.ts'
import { readDepositPass, type Times, timesOfLook } from './depositPass.ts'

/** Executed transfers are never replaced, so they can be cached. */
const limits = { finalEntriesMax: 10_000 }

const minuteMs = 60_000n

/**
 * The exchange as settlement reads it. Milliseconds of its time stand for heights, because nothing that it shows is
 * ever replaced; so every block has one constant hash.
 *
 * A look for deposits (`depositPass`) takes two steps. First it lists the depositories' ledgers: the asked
 * range, half a minute before it, since endpoints list late, and after a start a part of the hour before,
 * until all of it is listed (`timesOfLook`). Then the hub is asked which order each transfer is for
 * (`createDepositClaims`). Its answer may come up to an hour after the transfer, so each look returns all
 * remembered transfers with an order, also those from before its range. Those that wait for their turn come
 * with a later look.
 * @source rules F-51, F-52
 */
export const hyperliquidSettlingChain: SettlingChainFamily = ({ chain, client, hubEntries }) => {
  const { depository, additionalDepositories = [] } = chain
  if (depository === undefined) throw new ConfigurationError(`chains: ${chain.id} has no depository`)
  if (hubEntries === undefined)
    throw new ConfigurationError(`chains: ${chain.id} needs the hub, which says what transfers are for`)
  const quorum = explorersBeside(client)
  const reader = createHyperliquidFactsReader({ chain: { ...chain, depository }, quorum, hubEntries, limits })
  const depositories = [depository, ...additionalDepositories].map(hyperliquidCodec.canonicalAddress)
  const { blockRefAt, withTimeAsBlock, ...time } = createTimeAsHeight({
    client,
    call: statusCall,
    readMs: parseTime,
    // Stands for the hash of every block, of which the exchange shows none.
    hash: 'shown',
  })
  // Chooses the transfers that are read as deposits, by the orders that the hub names for them.
  const depositChoice = createDepositClaims({ chainId: chain.id, hubEntries }, () => performance.now())
  /** Range of time that earlier looks listed. A look that throws does not count: it is listed again. */
  let listed: Times | undefined
  const depositCache = createLruCache<InBlock<DepositFacts>>(limits.finalEntriesMax)
  return {
    // Milliseconds stand for blocks. Each look lists the last half minute again, so none counts as late. A
    // watcher that never ran begins `rewindBlocks`, an hour, before the newest time.
    steps: { rangeBlocks: 5n * minuteMs, rewindBlocks: 60n * minuteMs, lateBlocks: 0n },
    ...time,
    async depositPass({ from, to, known }, signal): Promise<SettlingPass> {
      const look = timesOfLook({ from, to }, listed)
      const question = { times: look.times, depositories }
      const { listedTransfers } = await agreeOn(
        quorum,
        async (view, viewSignal) => ({ listedTransfers: await readDepositPass(view, question, viewSignal) }),
        signal,
      )
      const { transfers, isShort } = await depositChoice.look(listedTransfers, to, signal)
      listed = look.listed
      const isHourListed = look.isWhole
      return {
        known: blockRefAt(known),
        last: blockRefAt(to),
        transactions: transfers.map(({ hash }) => hash),
        // Transfers wait for their turn at the hub, or a start has not listed all of the hour before it yet.
        isShort: isShort || !isHourListed,
      }
    },
    async deposits(transactionId, signal) {
      const cached = depositCache.get(transactionId)
      if (cached !== undefined) return cached
      const reading = reader.readDeposits({ transactionId }, { signal }).then(withTimeAsBlock)
      const deposit = await unlessUnmapped(unlessGone(reading))
      // Facts exist once the hub has an entry, which never changes, or once one would come too late to count.
      if (deposit !== undefined) depositCache.set(transactionId, deposit)
      return deposit
    },
    payment: (question, signal) =>
      stateOfPayment(reader.readPayment(question, { signal }).then(withTimeAsBlock)),
    finalPayment: (question, signal) =>
      unlessUnmapped(unlessGone(reader.readPayment(question, { signal }).then(withTimeAsBlock))),
    // Transfers are free, and answers do not show the fee for a new account.
    feePaid: async () => 0n,
  }
}

/** State of a payment. What the exchange shows is final, so a shown transfer has its one confirmation at once. */
async function stateOfPayment(reading: Promise<InBlock<PaymentFacts>>): Promise<PaymentReading> {
  try {
    return { state: 'included', facts: await reading, confirmations: 1 }
  } catch (error) {
    if (error instanceof TransactionMissingError || error instanceof NonceMappingMissingError)
      return { state: 'missing' }
    if (error instanceof TransactionRevertedError) return { state: 'reverted', isFinal: true }
    throw error
  }
}

/**
 * Facts of a transfer, or nothing while its purpose is missing on the hub. The purpose may still be recorded within an
 * hour: until then the transfer belongs to no order, and is read again.
 */
async function unlessUnmapped<Facts>(reading: Promise<Facts>): Promise<Facts | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof NonceMappingMissingError) return undefined
    throw error
  }
}
