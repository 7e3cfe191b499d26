import {
  bytesToHex,
  ConfigurationError,
  type Hex,
  hexToBytes,
  UpstreamUnavailableError,
} from '@causeway/core'
import {
  type BitcoinNetwork,
  bitcoinNetworkOf,
  createBitcoinCodec,
  InvalidAddressError,
} from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import { NodeError } from '@causeway/rpc'
import type { DepositAddressTerms, NetworkFees } from '../../rules/quotingFamily.ts'
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
  type SweptOutputs,
  signLineTransaction,
} from '../rules/paying/lineTransaction.ts'
import { paymentTag, untagged } from '../rules/paying/paymentTag.ts'
import { BitcoinFees } from '../rules/quoting/bitcoinFees.ts'
import { dustOf } from '../rules/quoting/virtualSize.ts'
import { outputScript } from '../rules/script.ts'
import { type OutPoint, parseBitcoinTransaction } from '../rules/transaction.ts'
import {
  AlreadyMarkedError,
  type LineInputs,
  type LinePayingChain,
  type LinePayingFamily,
  type LinePayingOptions,
  type LineView,
  type LineWork,
} from './linePayingChain.ts'
import { besideQuestion, type LineReading, type LineTerms, lineQuestion } from './lineReading.ts'
import { type BitcoinPayingView, bitcoindPayingView, esploraPayingView } from './payingViews.ts'
import { PaymentLine } from './paymentLine.ts'

const readTimeoutMs = 7_000
const amountMax = 21_000_000n * 10n ** 8n

/** Payments of one wallet as one line of transactions. See decision 29. */
export const bitcoinPaying: LinePayingFamily = {
  open: (options) => new BitcoinPayer(options),
  // A file in its place is named by BITCOIN_PRIVATE_KEY_FILE.
  keySetting: 'BITCOIN_PRIVATE_KEY',
  // Six blocks: one is found within it in all but one of four hundred hours.
  landsWithinSeconds: 3_600,
}

type Quorum = QuorumClient<BitcoinPayingView>

class BitcoinPayer implements LinePayingChain {
  readonly address: string
  readonly publicKey: Hex
  readonly depository: string | undefined
  readonly currency: string
  readonly kept = lineDust
  readonly #chainId: string
  readonly #network: BitcoinNetwork
  readonly #depositories: readonly string[]
  /** Nodes where there are any, and APIs: at least one of the two. */
  readonly #quorums: readonly [Quorum, ...Quorum[]]
  readonly #terms: LineTerms
  readonly #firstOutput: OutPoint
  /** Newest known output of the line, as of the last look. */
  #known: OutPoint

  constructor({ chain, key, firstOutput, nowMs }: LinePayingOptions) {
    this.#chainId = chain.id
    this.#network = bitcoinNetworkOf(chain.network)
    const codec = createBitcoinCodec(this.#network)
    // CAST: the form of a key was checked when its setting was read.
    const wallet = lineWallet(hexToBytes(key.reveal() as Hex), this.#network)
    const confirmations = confirmationsOf(chain)
    const { nodes, api } = openQuorums(chain, { node: bitcoindPayingView, api: esploraPayingView })
    const [quorum, ...others] = [nodes, api].flatMap((one) => (one === undefined ? [] : [one]))
    if (quorum === undefined) throw new ConfigurationError(`chain ${chain.id} has no endpoint`)
    this.#quorums = [quorum, ...others]
    this.#depositories = [chain.depository, ...(chain.additionalDepositories ?? [])].flatMap((one) =>
      one === undefined ? [] : [codec.canonicalAddress(one)],
    )
    const line = new PaymentLine(wallet, firstOutput)
    this.#terms = { threshold: quorum.threshold, confirmations, wallet, line, nowMs }
    this.#firstOutput = firstOutput
    this.#known = firstOutput
    this.address = wallet.address
    this.publicKey = bytesToHex(wallet.publicKey)
    this.depository = this.#depositories[0]
    this.currency = codec.nativeCurrency
  }

  async look(hashes: readonly string[]): Promise<LineView> {
    const outPoints = hashes.map((txid) => ({ txid, vout: 0 }))
    let facts = await this.#reading(outPoints)
    // Somebody else's transaction leads on from what is known here: a process before the database was restored.
    if (facts.tip === undefined)
      facts = await this.#reading([...outPoints, ...(await this.#listedOutputs(this.address))])
    const { tip } = facts
    if (tip === undefined)
      throw new UpstreamUnavailableError(
        `No endpoint of chain ${this.#chainId} shows where the wallet's line ends.`,
      )
    this.#known = tip
    return { ...facts, tip }
  }

  async #reading(outPoints: readonly OutPoint[]): Promise<LineReading> {
    const all = [this.#firstOutput, this.#known, ...outPoints]
    const places = new Map(all.map((one) => [`${one.txid}:${one.vout}`, one]))
    const question = lineQuestion({ ...this.#terms, places: [...places.values()] })
    const { facts } = await this.#quorums[0].read({ ...question, signal: within() })
    return facts
  }

  async readFinal(id: Hex): Promise<FinalMark> {
    const { finalTip, finalSeconds } = await this.look([])
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

  #reaches(place: OutPoint): Promise<boolean | undefined> {
    return this.#terms.line.reaches(place, async (txid) => {
      const answers = await this.#quorums[0].askEach((view, own) => view.readTransaction(txid, own), within())
      return answers.find(({ said }) => said !== undefined)?.said?.transaction
    })
  }

  async besideLine(): Promise<readonly OwnOutput[]> {
    const beside: OwnOutput[] = []
    for (const output of await this.#listedOutputs(this.address)) {
      if ((await this.#reaches(output)) !== false) continue
      beside.push(...(await this.#finalOutput(output, this.#terms.wallet.script)))
    }
    return beside
  }

  /** Whoever names one more is believed nothing: each is looked at by the quorum. */
  async #listedOutputs(address: string): Promise<readonly OwnOutput[]> {
    const lister = this.#quorums.at(-1) ?? this.#quorums[0]
    const answers = await lister.askEach((view, own) => view.nameOutputs(address, own, 'own'), within())
    const all = answers.flatMap(({ said = [] }) => (said === 'refused' ? [] : said))
    return [...new Map(all.map((one) => [`${one.txid}:${one.vout}`, one])).values()]
  }

  /** Own outputs at this outpoint, if it is final and unspent, whatever the address lists say. */
  async #finalOutput(output: OutPoint, script: Uint8Array): Promise<readonly OwnOutput[]> {
    const question = besideQuestion({ ...this.#terms, output, script })
    const { facts } = await this.#quorums[0].read({ ...question, signal: within() })
    const { txid, vout } = output
    return facts.value === undefined ? [] : [{ txid, vout, value: facts.value }]
  }

  depositAddress(terms: DepositAddressTerms) {
    const made = bitcoinDepositAddress(terms, this.#network)
    return { ...made, name: bitcoinDepositName(made.address, this.#network) }
  }

  async outputsToSweep(address: string): Promise<readonly OwnOutput[]> {
    const script = outputScript(address, this.#network)
    const looked = namedOutputs(await this.#listedOutputs(address))
    const final = looked.map((output) => this.#finalOutput(output, script))
    return sweptOutputs((await Promise.all(final)).flat())
  }

  refuse(work: LineWork): string | undefined {
    if (work.swept !== undefined) return this.#refuseSweep(work, work.swept)
    for (const { recipient, amount } of work.payments) {
      const script = scriptOf(recipient, this.#network)
      if (script === undefined) return 'nobody has the key of the recipient'
      if (recipient === this.address) return 'the recipient is the fill wallet'
      if (this.#depositories.includes(recipient)) return 'the recipient is a depository'
      if (amount < dustOf(script) || amount > amountMax) return 'an amount is none of this chain'
    }
    return undefined
  }

  /** All of it goes into the depository for an order, or back without one; the wallet pays the fee and nothing else. */
  #refuseSweep({ payments, orderId }: LineWork, { outputs }: SweptOutputs): string | undefined {
    const [payment, ...others] = payments
    const held = outputs.reduce((sum, { value }) => sum + value, 0n)
    if (held === 0n) return 'nothing lies at the address'
    if (payment === undefined || others.length > 0 || payment.amount !== held)
      return 'a sweep pays all that it takes'
    if (orderId !== undefined && payment.recipient !== this.depository)
      return 'an order is paid for elsewhere'
    const script = scriptOf(payment.recipient, this.#network)
    return script === undefined ? 'nobody has the key of the recipient' : undefined
  }

  priceOf(fees: NetworkFees): bigint | undefined {
    return fees instanceof BitcoinFees ? fees.satPerKvb : undefined
  }

  sizeOf(work: LineWork, inputs: LineInputs): number {
    return lineVirtualBytes(this.#terms.wallet, this.#planOf(work, inputs))
  }

  async sign(work: LineWork, inputs: LineInputs, fee: bigint): Promise<LineTransaction> {
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
    const [hex, signal] = [raw.slice(2), within()]
    const answers = await Promise.all(
      this.#quorums.map((one) => one.askEach((view, own) => view.send(hex, own), signal)),
    )
    const outcomes = answers.flat().flatMap((one) => (one.said === undefined ? [] : [one.said]))
    if (outcomes.some(({ taken }) => taken)) return
    const refusal = outcomes.find((one) => !one.taken)
    if (refusal !== undefined && !refusal.taken) throw new NodeError({ code: 0, message: refusal.refusal })
    throw new UpstreamUnavailableError('No endpoint took the transaction.')
  }

  async close(): Promise<void> {
    await Promise.all(this.#quorums.map((one) => one.close()))
  }
}

const within = () => AbortSignal.timeout(readTimeoutMs)

function scriptOf(recipient: string, network: BitcoinNetwork): Uint8Array | undefined {
  try {
    return outputScript(recipient, network)
  } catch (error) {
    if (error instanceof InvalidAddressError) return undefined
    throw error
  }
}
