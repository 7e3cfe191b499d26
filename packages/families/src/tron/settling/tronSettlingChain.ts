import { ConfigurationError } from '@causeway/core'
import type { Finality } from '@causeway/core/config'
import { createTronCodec, tronAddress, tronHexAddress } from '@causeway/core/encodings'
import { agreeOn, createHttpQuorumOver } from '@causeway/rpc'
import { askPaymentVotes } from '../../shared/paymentVotes.ts'
import { unlessPutAside } from '../../shared/putAside.ts'
import type { BlockRef, SettlingChainFamily, SettlingPass } from '../../shared/settlingChain.ts'
import { hashesByHeight, readPaymentNow, unlessGone } from '../../shared/settlingReads.ts'
import { decideMark, decideState, markCalls } from '../paying/finalMarks.ts'
import { callOf, tryCall } from '../quoting/nodeCalls.ts'
import { parseFee } from '../reading/answers.ts'
import { askNode, newestView, type TronView } from '../reading/askNode.ts'
import { createTronFactsReader } from '../reading/factsReader.ts'
import { requireHeader } from '../reading/readFinalTransaction.ts'
import { solidHeaderRequest, unsolidInfoRequest } from '../reading/requests.ts'
import { fillState } from '../rules/paying/fillCalls.ts'
import { readBlockRefs, readDepositPass } from './depositPass.ts'

/** No transaction is cached, because one that is not final may change. */
const limits = { finalEntriesMax: 0 }

/**
 * Finality of the `shallow` reader: a block counts as soon as it is the newest, and the caller counts confirmations.
 */
const anyDepth: Finality = { mode: 'depth', blocks: 0 }

const codec = createTronCodec()

/**
 * Readers of facts in the newest blocks (`shallow`) and in final ones (`deep`), and the quorum of the newest
 * blocks. Requests are built for solidified (irreversible) blocks. `newestView` sends the same requests to a node's paths
 * for the newest blocks, so that one set of requests serves both readers.
 */
function openReaders({ chain: listed, client, recordsPayments }: Parameters<SettlingChainFamily>[0]) {
  const { depository, additionalDepositories = [] } = listed
  if (depository === undefined) throw new ConfigurationError(`chains: ${listed.id} has no depository`)
  const chain = { ...listed, depository }
  const solid = createHttpQuorumOver(client, (view): TronView => view)
  const newest = createHttpQuorumOver(client, newestView)
  const shared = { limits, recordsPayments }
  return {
    newest,
    deep: createTronFactsReader({ chain, quorum: solid, ...shared }),
    shallow: createTronFactsReader({
      chain: { ...chain, finality: anyDepth },
      quorum: newest,
      ...shared,
    }),
    depositories: [depository, ...additionalDepositories].map((address) =>
      tronHexAddress(codec.canonicalAddress(address)),
    ),
  }
}

/**
 * A chain as settlement reads it: deposits are found in the newest blocks, because a block is solidified
 * (irreversible) only a minute later, and wallets expect a first sign of a deposit sooner. @source rule F-127
 */
export const tronSettlingChain: SettlingChainFamily = (options) => {
  const { chain, client, payer } = options
  const hexContract = payer?.fillContract
  const { deep, shallow, newest, depositories } = openReaders(options)
  const agreeOnNewest = <Facts>(
    read: (view: TronView, viewSignal: AbortSignal) => Promise<Facts>,
    signal: AbortSignal,
  ): Promise<Facts> => agreeOn(newest, read, signal)
  const head = async (signal: AbortSignal) => (await shallow.finalBlocks.readNewest({ signal })).number
  const finalHeight = async (signal: AbortSignal) => (await deep.finalBlocks.readNewest({ signal })).number

  return {
    // Few blocks at a time: the infos of one have hundreds of thousands of bytes. Nodes show them with the
    // block, so none is late.
    // Sixty blocks are three minutes, and a block is solidified within one.
    steps: { rangeBlocks: 20n, rewindBlocks: 60n, lateBlocks: 0n },
    head,
    finalHeight,
    async finalSeconds(signal) {
      const number = await finalHeight(signal)
      // Nodes show a final block among the newest ones too.
      const { seconds } = await agreeOnNewest(async (view, viewSignal) => {
        const header = requireHeader(await askNode(view, solidHeaderRequest(number), viewSignal), number)
        return { seconds: header.timestampSeconds }
      }, signal)
      return Number(seconds)
    },
    depositPass: (range, signal) =>
      agreeOnNewest<SettlingPass>(
        (view, viewSignal) => readDepositPass(view, { ...range, depositories }, viewSignal),
        signal,
      ),
    async blockHashes(heights, signal) {
      const blocks = await agreeOnNewest<readonly (BlockRef | undefined)[]>(
        (view, viewSignal) => readBlockRefs(view, heights, viewSignal),
        signal,
      )
      return hashesByHeight(blocks)
    },
    deposits: (transactionId, signal) => unlessGone(shallow.readDeposits({ transactionId }, { signal })),
    payment: (question, signal) => readPaymentNow({ shallow, deep, head }, question, signal),
    finalPayment: (question, signal) => unlessPutAside(unlessGone(deep.readPayment(question, { signal }))),
    // Only where the solver pays through a fill contract, whose state is asked.
    ...(hexContract !== undefined &&
      payer !== undefined && {
        async isPaid(id, _signal, fillContract = hexContract) {
          const through = { fillContract: tronAddress(fillContract), id }
          const call = tryCall({ owner: payer.address, ...fillState(through, payer.address) })
          return (await askPaymentVotes(client, [call], decideState)) === 'paid'
        },
      }),
    async finalMark({ address, fillContract = hexContract }, id) {
      if (fillContract === undefined) throw new ConfigurationError(`chains: ${chain.id} has no fill contract`)
      const state = fillState({ fillContract: tronAddress(fillContract), id }, address)
      const call = tryCall({ owner: address, ...state }, 'walletsolidity')
      return askPaymentVotes(client, markCalls(call), decideMark)
    },
    async feePaid(transactionId, signal) {
      // A figure for measurements, for which one endpoint's word is enough.
      const call = callOf(unsolidInfoRequest(codec.canonicalTransactionId(transactionId)))
      const [answer] = await client.batch([call], { signal })
      // A refusal counts as the answer that there is no such transaction.
      const nothing = {}
      return parseFee(answer?.ok === true ? answer.result : nothing)
    },
  }
}
