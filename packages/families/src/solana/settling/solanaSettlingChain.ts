import { solanaCodec } from '@causeway/core/encodings'
import type { EndpointView } from '@causeway/rpc'
import {
  agreeOn,
  createQuorumOver,
  MalformedAnswerError,
  type QuorumClient,
  TransactionNotFinalError,
} from '@causeway/rpc'
import { askPaymentVotes } from '../../shared/paymentVotes.ts'
import { unlessPutAside } from '../../shared/putAside.ts'
import type { BlockRef, SettlingChainFamily, SettlingPass } from '../../shared/settlingChain.ts'
import { hashesByHeight, readPaymentNow, unlessGone } from '../../shared/settlingReads.ts'
import { decideMark, decideState, markCalls, stateCalls } from '../paying/finalMarks.ts'
import { parseBlock } from '../reading/answers.ts'
import { createSolanaFactsReader } from '../reading/factsReader.ts'
import { blockCall, transactionCall } from '../reading/requests.ts'
import { parseFee } from '../reading/transactionAnswer.ts'
import { createAddressReading } from './addressReading.ts'
import { type ListPositions, readBlockRefs, readDepositPass } from './depositPass.ts'

/** No transaction is cached: settlement keeps what it has read in its database. */
const limits = { finalEntriesMax: 0 }

/**
 * A cluster as settlement reads it. Slots stand for heights, and only final blocks are read. Deposits are found in the
 * list of transactions that name the depository's program, and read one by one. @source rules F-104, F-140
 */
export const solanaSettlingChain: SettlingChainFamily = ({ chain, client, payer }) => {
  const quorum = createQuorumOver(client)
  const reader = createSolanaFactsReader({ chain, quorum, limits })
  // The reader was not made without a depository, so the empty text is never used.
  const program = solanaCodec.canonicalAddress(chain.depository ?? '')
  const listPositions: ListPositions = new Map()
  const head = async (signal: AbortSignal) => (await reader.finalBlocks.readNewest({ signal })).number

  return {
    head,
    finalHeight: head,
    finalSeconds: async (signal) => readSeconds(quorum, await head(signal), signal),
    depositPass: (range, signal) =>
      agreeOn<SettlingPass, EndpointView>(
        quorum,
        (view, viewSignal) => readDepositPass(view, { ...range, program, listPositions }, viewSignal),
        signal,
      ),
    async blockHashes(slots, signal) {
      const read = (view: EndpointView, viewSignal: AbortSignal) => readBlockRefs(view, slots, viewSignal)
      return hashesByHeight(
        await agreeOn<readonly (BlockRef | undefined)[], EndpointView>(quorum, read, signal),
      )
    },
    deposits: (transactionId, signal) => unlessGone(reader.readDeposits({ transactionId }, { signal })),
    async payment(question, signal) {
      try {
        // Only final blocks are read, so one reader serves as both.
        return await readPaymentNow({ shallow: reader, deep: reader, head }, question, signal)
      } catch (error) {
        // The transaction is in no final block yet.
        if (error instanceof TransactionNotFinalError) return { state: 'missing' }
        throw error
      }
    },
    finalPayment: (question, signal) => unlessPutAside(unlessGone(reader.readPayment(question, { signal }))),
    addresses: createAddressReading({ client, quorum, depository: program }),
    ...(payer !== undefined && {
      isPaid: async (id) =>
        (await askPaymentVotes(client, stateCalls(payer.address, id), decideState)) === 'paid',
    }),
    finalMark: ({ address }, id) => askPaymentVotes(client, markCalls(address, id), decideMark),
    async feePaid(transactionId, signal) {
      const [answer] = await client.batch([transactionCall(transactionId)], { signal })
      return parseFee(answer)
    },
  }
}

/** Unix seconds at which the block of a final slot was made. */
async function readSeconds(quorum: QuorumClient, slot: bigint, signal: AbortSignal): Promise<number> {
  const read = async (view: EndpointView, viewSignal: AbortSignal) => {
    const { timeSeconds: seconds } = parseBlock((await view.ask([blockCall(slot)], viewSignal))[0])
    if (seconds === undefined) throw new MalformedAnswerError('getBlock')
    return { seconds }
  }
  return Number((await agreeOn(quorum, read, signal)).seconds)
}
