import { maxBigint, UpstreamUnavailableError } from '@causeway/core'
import type { FeerateModel } from '@causeway/core/config'
import { bitcoinNetworkOf, createBitcoinCodec } from '@causeway/core/encodings'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  AddressRefusedError,
  countVoices,
  type Electorate,
  medianOfVoices,
  parseRecord,
  reachedBy,
  resultOf,
  unlessUnreadable,
} from '@causeway/rpc'
import type { NetworkReader, NetworkReaderOptions, NetworkReading } from '../../shared/networkReader.ts'
import { readByVoice, type Votes } from '../../shared/paymentVotes.ts'
import { parseCoins, parseHeight } from '../reading/bitcoinView.ts'
import { BitcoinFees } from '../rules/quoting/bitcoinFees.ts'
import { readOwnOutputs } from './ownOutputs.ts'

/** Once enough endpoints have answered, late ones have so many milliseconds left until votes are counted. */
const patienceMs = 250
/**
 * Milliseconds for which the balance of the fill wallet is cached, because its outputs are long lists. `read`: until
 * it is read again. `kept`: until it is dropped if it cannot be read.
 * @source Q-83
 */
const inventoryMs = { read: 10_000, kept: 60_000 }

/**
 * Reads head, fees and inventory of a chain for the market. Nodes are at different blocks for seconds, so answers need
 * not be equal: head and time are those that enough nodes have reached. The feerate is the median of the nodes' own
 * estimates, raised to the configured floor; above the ceiling nothing is quoted.
 * @source rule F-137
 */
export function createBitcoinNetworkReader(options: NetworkReaderOptions): NetworkReader {
  const { client, feeModel } = options
  if (feeModel.kind !== 'feerate') throw new Error('Bitcoin charges by size')
  const { electorate } = client
  // Their answers are read by position, by `headIn` and `feerateIn`.
  const calls: readonly RpcCall[] = [
    { method: 'getblockchaininfo', params: [] },
    // `economical`: nodes then follow falling fees sooner.
    { method: 'estimatesmartfee', params: [feeModel.targetBlocks, 'economical'] },
    { method: 'getmempoolinfo', params: [] },
  ]
  const readInventory = createInventory(options)
  return {
    async read(limits) {
      const [reading, inventory] = await Promise.all([
        client.poll<Omit<NetworkReading, 'inventory'>>(calls, {
          ...limits,
          patienceMs,
          decide: (votes, isLast) => (isLast ? readingOf(votes, electorate, feeModel) : undefined),
        }),
        readInventory(limits.timeoutMs),
      ])
      return { ...reading, inventory }
    },
  }
}

/**
 * The reading by all nodes' answers; undefined if too few of them have a usable head: the poll then rejects.
 * While too few nodes estimate a feerate, the configured floor is the price.
 */
function readingOf(
  votes: Votes,
  electorate: Electorate,
  { minSatPerKvb, maxSatPerKvb }: FeerateModel,
): Omit<NetworkReading, 'inventory'> | undefined {
  const { threshold, voters } = electorate
  const heads = readByVoice(votes, headIn)
  if (heads.length < threshold) return undefined
  const reached = (memberOf: (head: Head) => bigint) => reachedBy(threshold, heads.map(memberOf))
  const number = reached(({ height }) => height)
  const estimates = votes.map((vote) => ({ ...vote, value: unlessUnreadable(() => feerateIn(vote.value)) }))
  const median = medianOfVoices(estimates, electorate, (satPerKvb) => satPerKvb)
  const satPerKvb = median === undefined ? minSatPerKvb : maxBigint(median, minSatPerKvb)
  return {
    head: { number, timestampSeconds: Number(reached(({ timeSeconds }) => timeSeconds)) },
    fees: feesAt(satPerKvb, maxSatPerKvb),
    shown: {
      satPerKvb: satPerKvb.toString(),
      ceilingSatPerKvb: maxSatPerKvb.toString(),
      priceFrom: median === undefined ? 'configured' : 'median',
    },
    voices: {
      agreed: heads.filter(({ height }) => height >= number).length,
      required: threshold,
      configured: countVoices(voters),
    },
  }
}

function feesAt(satPerKvb: bigint, maxSatPerKvb: bigint): NetworkReading['fees'] {
  if (satPerKvb <= maxSatPerKvb) return new BitcoinFees({ satPerKvb })
  return {
    reason: 'feerate_above_ceiling',
    charge: 'A thousand virtual bytes',
    cost: `cost ${satPerKvb} satoshi`,
    ceiling: maxSatPerKvb.toString(),
  }
}

type Head = { readonly height: bigint; readonly timeSeconds: bigint }

function headIn(answers: readonly (RpcAnswer | undefined)[]): Head {
  const requestName = 'getblockchaininfo'
  const { blocks, time } = parseRecord(resultOf(answers[0], requestName), requestName)
  return { height: parseHeight(blocks, requestName), timeSeconds: parseHeight(time, requestName) }
}

/**
 * Feerate that a node estimates for a transaction, and at least the node's own minimum. `undefined` if the node has
 * seen too few transactions for an estimate: its minimum then says nothing about what is mined.
 * @throws MalformedAnswerError
 */
function feerateIn(answers: readonly RpcAnswer[] | undefined): bigint | undefined {
  const requestName = 'estimatesmartfee'
  const { feerate } = parseRecord(resultOf(answers?.[1], requestName), requestName)
  if (feerate === undefined) return undefined
  const { mempoolminfee, minrelaytxfee } = parseRecord(
    resultOf(answers?.[2], 'getmempoolinfo'),
    'getmempoolinfo',
  )
  const floors = [mempoolminfee, minrelaytxfee].map((floor) => parseCoins(floor, 'getmempoolinfo'))
  return floors.reduce(maxBigint, parseCoins(feerate, requestName))
}

/** Reads the balance that the fill wallet can spend, by currency; empty if it could not be read for a minute. */
function createInventory({ client, network, fillWallet }: NetworkReaderOptions) {
  const codec = createBitcoinCodec(bitcoinNetworkOf(network))
  let cached: { readonly atMs: number; readonly held: ReadonlyMap<string, bigint> } | undefined
  return async (timeoutMs: number): Promise<ReadonlyMap<string, bigint>> => {
    if (fillWallet === undefined) return new Map()
    const ageMs = performance.now() - (cached?.atMs ?? Number.NEGATIVE_INFINITY)
    if (cached !== undefined && ageMs < inventoryMs.read) return cached.held
    try {
      const ownAddress = { address: fillWallet, network: bitcoinNetworkOf(network) }
      const outputs = await readOwnOutputs(client, ownAddress, { timeoutMs, whose: 'own' })
      const held = outputs.reduce((sum, { value }) => sum + value, 0n)
      cached = { atMs: performance.now(), held: new Map([[codec.nativeCurrency, held]]) }
      return cached.held
    } catch (error) {
      if (!(error instanceof UpstreamUnavailableError || error instanceof AddressRefusedError)) throw error
      return cached !== undefined && ageMs < inventoryMs.kept ? cached.held : new Map()
    }
  }
}
