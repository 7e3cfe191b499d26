import {
  bytesToHex,
  ConfigurationError,
  type Hex,
  hexToBytes,
  UpstreamUnavailableError,
} from '@causeway/core'
import { type BitcoinNetwork, bitcoinNetworkOf, createBitcoinCodec } from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import { NodeError } from '@causeway/rpc'
import type { DepositAddressTerms } from '../../rules/depositAddressing.ts'
import type { NetworkFees } from '../../rules/networkFees.ts'
import type { FinalMark, PaymentState } from '../../shared/payingChain.ts'
import { confirmationsOf } from '../reading/finality.ts'
import { openQuorums } from '../reading/openQuorums.ts'
import {
  bitcoinDepositAddress,
  bitcoinDepositName,
  namedOutputs,
  sweptOutputs,
} from '../rules/depositAddress.ts'
import {
  type LinePlan,
  type LineTransaction,
  lineDust,
  lineVirtualBytes,
  lineWallet,
  type OwnOutput,
  signLineTransaction,
} from '../rules/paying/lineTransaction.ts'
import { paymentTag, untagged } from '../rules/paying/paymentTag.ts'
import { BitcoinFees } from '../rules/quoting/bitcoinFees.ts'
import { outputScript } from '../rules/script.ts'
import { distinctOutputs, type OutPoint, parseBitcoinTransaction } from '../rules/transaction.ts'
import {
  AlreadyMarkedError,
  type LineInputs,
  type LinePayingChain,
  type LinePayingFamily,
  type LinePayingOptions,
  type LineView,
  type LineWork,
} from './linePayingChain.ts'
import { type LineReading, type LineTerms, lineQuestion, unspentQuestion } from './lineReading.ts'
import { type BitcoinPayingView, bitcoindPayingView, esploraPayingView } from './payingViews.ts'
import { PaymentLine } from './paymentLine.ts'
import { refuseWork } from './refuseWork.ts'

const readTimeoutMs = 7_000

/** Bitcoin's member of `chainFamilies` for payments: one wallet pays by one line of transactions. See decision 29. */
export const bitcoinPaying: LinePayingFamily = {
  open: (options) => new BitcoinPayer(options),
  // A file in its place is named by BITCOIN_PRIVATE_KEY_FILE.
  keySetting: 'BITCOIN_PRIVATE_KEY',
  // Six blocks on average: about one hour in four hundred passes without any block.
  landsWithinSeconds: 3_600,
}

type Quorum = QuorumClient<BitcoinPayingView>

/**
 * Reads, signs and sends the line of one fill wallet. Reads are agreed on by nodes, or by APIs if there are no nodes;
 * transactions, whose bytes hash to their ids, and lists of outputs, which are hints, may come from any endpoint.
 */
class BitcoinPayer implements LinePayingChain {
  readonly address: string
  readonly publicKey: Hex
  readonly depository: string | undefined
  readonly currency: string
  readonly keptSatoshi = lineDust
  readonly #chainId: string
  readonly #network: BitcoinNetwork
  readonly #depositories: readonly string[]
  /** Nodes where there are any, then APIs: at least one of the two. The first of them agrees on readings. */
  readonly #quorums: readonly [Quorum, ...Quorum[]]
  readonly #terms: LineTerms
  /** The output of the wallet that the line begins with. */
  readonly #firstOutput: OutPoint
  /** End of the line as of the last look. */
  #lastTip: OutPoint

  constructor({ chain, key, firstOutput, nowMs }: LinePayingOptions) {
    this.#chainId = chain.id
    this.#network = bitcoinNetworkOf(chain.network)
    const codec = createBitcoinCodec(this.#network)
    // CAST: the form of a key was checked when its setting was read.
    const wallet = lineWallet(hexToBytes(key.reveal() as Hex), this.#network)
    const confirmations = confirmationsOf(chain)
    const { nodes, api } = openQuorums(chain, { node: bitcoindPayingView, api: esploraPayingView })
    const [quorum, ...others] = [nodes, api].filter((one) => one !== undefined)
    if (quorum === undefined) throw new ConfigurationError(`chain ${chain.id} has no endpoint`)
    this.#quorums = [quorum, ...others]
    this.#depositories = [chain.depository, ...(chain.additionalDepositories ?? [])].flatMap((one) =>
      one === undefined ? [] : [codec.canonicalAddress(one)],
    )
    const line = new PaymentLine(wallet, firstOutput)
    this.#terms = { threshold: quorum.threshold, confirmations, wallet, line, nowMs }
    this.#firstOutput = firstOutput
    this.#lastTip = firstOutput
    this.address = wallet.address
    this.publicKey = bytesToHex(wallet.publicKey)
    this.depository = this.#depositories[0]
    this.currency = codec.nativeCurrency
  }

  async look(hashes: readonly string[]): Promise<LineView> {
    // The first output of a transaction is its place in the line.
    const places = hashes.map((txid) => ({ txid, vout: 0 }))
    let facts = await this.#readLine(places)
    // A transaction that is unknown here has spent the known end, for example one signed before the database was
    // restored: then all listed outputs of the address are tried as the end.
    if (facts.tip === undefined)
      facts = await this.#readLine([...places, ...(await this.#listedOutputs(this.address))])
    const { tip } = facts
    if (tip === undefined)
      throw new UpstreamUnavailableError(
        `No endpoint of chain ${this.#chainId} shows where the wallet's line ends.`,
      )
    this.#lastTip = tip
    return { ...facts, tip }
  }

  async #readLine(places: readonly OutPoint[]): Promise<LineReading> {
    const candidates = [this.#firstOutput, this.#lastTip, ...places]
    const question = lineQuestion({ ...this.#terms, places: distinctOutputs(candidates) })
    const { facts } = await this.#quorums[0].read({ ...question, signal: readTimeout() })
    return facts
  }

  async readFinal(id: Hex): Promise<FinalMark> {
    const { finalTip, finalSeconds } = await this.look([])
    // Without a final place the line has recorded no id for good. The look has followed the line back from
    // its tip, so each final place is one that `stateAt` knows.
    const state = finalTip === undefined ? 'open' : this.#terms.line.stateAt(finalTip, id)
    return { state, timestampSeconds: finalSeconds }
  }

  async stateAt(place: OutPoint, id: Hex): Promise<PaymentState> {
    const isReached = await this.#reaches(place)
    if (isReached === undefined)
      throw new UpstreamUnavailableError(
        `The wallet's line on chain ${this.#chainId} cannot be read as a whole.`,
      )
    if (!isReached) throw new Error('a transaction must lead the line of its wallet on')
    return this.#terms.line.stateAt(place, id)
  }

  /** As `PaymentLine.reaches`. Any endpoint may show a transaction, because its id is the hash of its bytes. */
  #reaches(place: OutPoint): Promise<boolean | undefined> {
    return this.#terms.line.reaches(place, async (txid) => {
      const answers = await this.#quorums[0].askEach(
        (view, viewSignal) => view.readTransaction(txid, viewSignal),
        readTimeout(),
      )
      const [seen] = answers.flatMap(({ said }) => said ?? [])
      return seen?.transaction
    })
  }

  async readOutputsBesideLine(): Promise<readonly OwnOutput[]> {
    const outputsBesideLine: OwnOutput[] = []
    for (const output of await this.#listedOutputs(this.address)) {
      // An output that may belong to the line is left to it.
      if ((await this.#reaches(output)) !== false) continue
      outputsBesideLine.push(...(await this.#finalOutput(output, this.#terms.wallet.script)))
    }
    return outputsBesideLine
  }

  /**
   * Outputs that some endpoint lists for an address, each once; the newest, if it has too many for a list. A list is
   * only a hint: the quorum checks each output.
   */
  async #listedOutputs(address: string): Promise<readonly OwnOutput[]> {
    // APIs come last, and list at once what a node must scan for.
    const lister = this.#quorums.at(-1) ?? this.#quorums[0]
    const answers = await lister.askEach(
      (view, viewSignal) => view.nameOutputs(address, viewSignal, 'own'),
      readTimeout(),
    )
    const listed = answers.flatMap(({ said = [] }) => (said === 'refused' ? [] : said))
    return distinctOutputs(listed)
  }

  /** The output with its agreed value, if it pays `script` and is final and unspent; otherwise nothing. */
  async #finalOutput(output: OutPoint, script: Uint8Array): Promise<readonly OwnOutput[]> {
    const question = unspentQuestion({ ...this.#terms, output, script })
    const { facts } = await this.#quorums[0].read({ ...question, signal: readTimeout() })
    const { txid, vout } = output
    return facts.value === undefined ? [] : [{ txid, vout, value: facts.value }]
  }

  depositAddress(terms: DepositAddressTerms) {
    const depositAddress = bitcoinDepositAddress(terms, this.#network)
    return { ...depositAddress, name: bitcoinDepositName(depositAddress.address, this.#network) }
  }

  async outputsToSweep(address: string): Promise<readonly OwnOutput[]> {
    const script = outputScript(address, this.#network)
    // The most valuable of the list are checked; the sweep takes the most valuable of those that are final.
    const outputsToCheck = namedOutputs(await this.#listedOutputs(address))
    const finalOutputs = await Promise.all(outputsToCheck.map((output) => this.#finalOutput(output, script)))
    return sweptOutputs(finalOutputs.flat())
  }

  refuse(work: LineWork): string | undefined {
    const { address: wallet } = this
    return refuseWork(work, { network: this.#network, wallet, depositories: this.#depositories })
  }

  satPerKvbOf(fees: NetworkFees): bigint | undefined {
    return fees instanceof BitcoinFees ? fees.satPerKvb : undefined
  }

  virtualBytesOf(work: LineWork, inputs: LineInputs): number {
    return lineVirtualBytes(this.#terms.wallet, this.#planOf(work, inputs))
  }

  async sign(work: LineWork, inputs: LineInputs, fee: bigint): Promise<LineTransaction> {
    // Nothing is signed for an id that the line records already: see `LinePayingChain`.
    if (work.mark !== undefined) {
      const state = await this.stateAt(inputs.parent, work.mark.id)
      if (state !== 'open') throw new AlreadyMarkedError(state)
    }
    return signLineTransaction(this.#terms.wallet, this.#planOf(work, inputs), fee)
  }

  #planOf({ mark, swept, orderId, payments }: LineWork, { parent, gathered }: LineInputs): LinePlan {
    const paid = payments.map(({ recipient, amount }) => {
      return { script: outputScript(recipient, this.#network), value: amount }
    })
    const tag = mark === undefined ? untagged : paymentTag(this.#terms.wallet.key, mark.kind, mark.id)
    return { parent, gathered, swept, payments: paid, orderId, tag }
  }

  learn(raw: readonly Hex[]): void {
    for (const bytes of raw) {
      const transaction = parseBitcoinTransaction(hexToBytes(bytes))
      if (transaction === undefined || this.#terms.line.learn(transaction) === undefined)
        throw new Error('a kept transaction leads no line of this wallet on')
    }
  }

  async broadcast(raw: Hex): Promise<void> {
    const hex = raw.slice(2)
    const signal = readTimeout()
    const answers = await Promise.all(
      this.#quorums.map((one) => one.askEach((view, viewSignal) => view.send(hex, viewSignal), signal)),
    )
    const outcomes = answers.flat().flatMap(({ said: outcome }) => (outcome === undefined ? [] : [outcome]))
    if (outcomes.some(({ isAccepted }) => isAccepted)) return
    const [refusal] = outcomes.flatMap((outcome) => (outcome.isAccepted ? [] : [outcome.refusal]))
    // APIs give no error code, so 0 stands for any.
    if (refusal !== undefined) throw new NodeError({ code: 0, message: refusal })
    throw new UpstreamUnavailableError('No endpoint took the transaction.')
  }

  async close(): Promise<void> {
    await Promise.all(this.#quorums.map((one) => one.close()))
  }
}

const readTimeout = () => AbortSignal.timeout(readTimeoutMs)
