import type { Finality } from '@causeway/core/config'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import {
  agreeOn,
  createQuorumOver,
  createViewedQuorum,
  TransactionMissingError,
  TransactionNotFinalError,
} from '@causeway/rpc'
import { putAsideReason } from '../../shared/putAside.ts'
import type { PaymentReading, SettlingChainFamily } from '../../shared/settlingChain.ts'
import { hashesByHeight } from '../../shared/settlingReads.ts'
import { createBitcoindView } from '../reading/bitcoindView.ts'
import { BitcoinDepositError } from '../reading/bitcoinErrors.ts'
import { createBitcoinFactsReader } from '../reading/factsReader.ts'
import { noSpenderLookup } from '../reading/spenderLookup.ts'
import { outputScript } from '../rules/script.ts'
import { createAddressReading } from './addressReading.ts'
import { readBlockRefs, readDepositPass, readHeaderSeconds } from './depositPass.ts'
import { readFee } from './readFee.ts'

/** No transaction is cached, because one that is not final may change. */
const limits = { finalEntriesMax: 0 }

/**
 * Finality of the `shallow` reader: a block counts as soon as it is the newest, and the caller counts confirmations.
 */
const anyDepth: Finality = { mode: 'depth', blocks: 1 }

/** Readers of facts by the chain's own finality (`deep`) and at any depth (`shallow`), and the quorum of its nodes. */
function openReaders({ chain: listed, client }: Parameters<SettlingChainFamily>[0]) {
  const chain = { network: undefined, additionalData: {}, ...listed, vmType: 'bitcoin-vm' as const }
  const quorum = createViewedQuorum(client, createBitcoindView)
  // Settlement reads no withdrawals, so nothing looks up spenders.
  const shared = { quorum, findSpenders: noSpenderLookup, limits }
  const network = bitcoinNetworkOf(chain.network)
  return {
    endpoints: createQuorumOver(client),
    deep: createBitcoinFactsReader({ ...shared, chain }),
    shallow: createBitcoinFactsReader({ ...shared, chain: { ...chain, finality: anyDepth } }),
    network,
    depositories: [chain.depository, ...(chain.additionalDepositories ?? [])].flatMap((address) =>
      address === undefined ? [] : [outputScript(address, network)],
    ),
  }
}

/**
 * A Bitcoin chain as settlement reads it: whole blocks, a few at a time. Unconfirmed transactions count as missing.
 * @source rule F-133
 */
export const bitcoinSettlingChain: SettlingChainFamily = (options) => {
  const { client } = options
  const { endpoints, deep, shallow, network, depositories } = openReaders(options)
  const head = async (signal: AbortSignal) => (await shallow.finalBlocks.readNewest({ signal })).number
  const finalHeight = async (signal: AbortSignal) => (await deep.finalBlocks.readNewest({ signal })).number

  return {
    // Blocks are read whole, so none is late. Twelve are two hours: a reorganization replaces far fewer.
    steps: { rangeBlocks: 6n, rewindBlocks: 12n, lateBlocks: 0n },
    head,
    finalHeight,
    async finalSeconds(signal) {
      const { hash } = await deep.finalBlocks.readNewest({ signal })
      const { seconds } = await agreeOn(
        endpoints,
        async (view, viewSignal) => ({ seconds: await readHeaderSeconds(view, hash, viewSignal) }),
        signal,
      )
      return Number(seconds)
    },
    depositPass: (range, signal) =>
      agreeOn(
        endpoints,
        (view, viewSignal) => readDepositPass(view, { ...range, depositories }, viewSignal),
        signal,
      ),
    blockHashes: async (heights, signal) =>
      hashesByHeight(
        await agreeOn(endpoints, (view, viewSignal) => readBlockRefs(view, heights, viewSignal), signal),
      ),
    deposits: async (transactionId, signal) =>
      // A transaction that pays two depositories, or whose depositor is unclear, is no deposit.
      undefinedOn(
        (error) => isInNoBlock(error) || error instanceof BitcoinDepositError,
        shallow.readDeposits({ transactionId }, { signal }),
      ),
    async payment(question, signal): Promise<PaymentReading> {
      // A transaction that cannot be read is no payment either, since no oracle can attest it.
      const facts = await undefinedOn(
        (error) => isInNoBlock(error) || putAsideReason(error) !== undefined,
        shallow.readPayment(question, { signal }),
      )
      if (facts === undefined) return { state: 'missing' }
      const confirmations = Number((await head(signal)) - facts.evidence.blockNumber) + 1
      return { state: 'included', facts, confirmations }
    },
    finalPayment: async (question, signal) =>
      // A missing or unreadable transaction is no payment; one that is not final throws
      // TransactionNotFinalError.
      undefinedOn(
        (error) => error instanceof TransactionMissingError || putAsideReason(error) !== undefined,
        deep.readPayment(question, { signal }),
      ),
    feePaid: (transactionId, signal) => readFee(client, transactionId, signal),
    addresses: createAddressReading({ client, endpoints, network }),
  }
}

/** True if the `shallow` reader found the transaction in no block: it reports an unconfirmed one as not final. */
function isInNoBlock(error: unknown): boolean {
  return error instanceof TransactionMissingError || error instanceof TransactionNotFinalError
}

/** Result of a reading; undefined if it fails with an error which means that there is no such thing. */
async function undefinedOn<Facts>(
  isNothing: (error: unknown) => boolean,
  reading: Promise<Facts>,
): Promise<Facts | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isNothing(error)) return undefined
    throw error
  }
}
