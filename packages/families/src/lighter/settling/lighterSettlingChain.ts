import { ConfigurationError } from '@causeway/core'
import { lighterCodec } from '@causeway/core/encodings'
import {
  createHttpQuorumOver,
  TransactionMissingError,
  TransactionNotFinalError,
  TransactionRevertedError,
} from '@causeway/rpc'
import type { SettlingChainFamily, SettlingPass } from '../../shared/settlingChain.ts'
import { unlessGone } from '../../shared/settlingReads.ts'
import { createTimeAsHeight } from '../../shared/timeAsHeight.ts'
import { parseSeconds, statusCall } from '../quoting/calls.ts'
import { explorersBeside } from '../quoting/lighterQuotingChain.ts'
import { createLighterFactsReader, depositoriesOf } from '../reading/factsReader.ts'
import { createLighterTransactions } from '../reading/finalTransactions.ts'
import { noTransferLookup } from '../reading/transferLookup.ts'
import { listDeposits } from './depositPass.ts'

/** Executed transfers are never replaced, so they can be cached. */
const limits = { finalEntriesMax: 10_000 }

const hourMs = 3_600_000n

/**
 * The exchange as settlement reads it. Milliseconds of its time stand for heights, because nothing that it executed
 * is ever replaced. Explorers list the transfers of a depository, and a quorum of endpoints decides what they were. A
 * lying explorer can only hide deposits, and only if no other lists them. @source rule F-163
 */
export const lighterSettlingChain: SettlingChainFamily = ({ chain, client }) => {
  const explorers = explorersBeside(client)
  if (explorers === undefined)
    throw new ConfigurationError(
      `chains: ${chain.id}.additionalData.explorerApiUrl is needed: deposits are found by it`,
    )
  const quorum = createHttpQuorumOver(client, (view) => view)
  const transactionReader = createLighterTransactions({ quorum, limits })
  // Settlement reads no withdrawals, so nothing looks up what executed one.
  const reader = createLighterFactsReader({ chain, quorum, findTransfers: noTransferLookup, limits })
  const depositories = depositoriesOf(chain)
  const { blockRefAt, withTimeAsBlock, ...time } = createTimeAsHeight({
    client,
    call: statusCall,
    readMs: (answer) => parseSeconds(answer) * 1_000n,
    // Stands for the hash of every block, of which the exchange shows none.
    hash: 'executed',
  })
  return {
    // Milliseconds stand for blocks. Explorers list by pages, so a long range costs no more than a short one. Each look
    // lists the five minutes before its range again, so none counts as late.
    steps: { rangeBlocks: 24n * hourMs, rewindBlocks: hourMs, lateBlocks: 0n },
    ...time,
    async depositPass({ from, to, known }, signal): Promise<SettlingPass> {
      const transactions = await listDeposits(
        { explorers, depositories, transactionReader },
        { from, to },
        signal,
      )
      return { known: blockRefAt(known), last: blockRefAt(to), transactions }
    },
    deposits: (transactionId, signal) => {
      const deposit = reader.readDeposits({ transactionId }, { signal }).then(withTimeAsBlock)
      return unlessGone(deposit)
    },
    async payment(question, signal) {
      try {
        const facts = withTimeAsBlock(await reader.readPayment(question, { signal }))
        return { state: 'included', facts, confirmations: 1 }
      } catch (error) {
        if (error instanceof TransactionMissingError || error instanceof TransactionNotFinalError)
          return { state: 'missing' }
        // A failed transfer may be sent again and succeed, until another transaction spends its nonce.
        if (error instanceof TransactionRevertedError) return { state: 'reverted', isFinal: false }
        throw error
      }
    },
    finalPayment: (question, signal) =>
      unlessGone(reader.readPayment(question, { signal }).then(withTimeAsBlock)),
    async feePaid(transactionId, signal) {
      const id = lighterCodec.canonicalTransactionId(transactionId)
      const transaction = await unlessGone(transactionReader.read(id, signal))
      return transaction?.final.transfer?.usdcFee
    },
  }
}
