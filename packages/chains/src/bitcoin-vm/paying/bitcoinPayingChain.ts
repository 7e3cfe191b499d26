import {
  BitcoinFees,
  bitcoinDepositAddress,
  bitcoinDepositName,
  bitcoinNetworkOf,
  bytesToHex,
  ConfigurationError,
  createBitcoinCodec,
  dustOf,
  hexToBytes,
  InvalidAddressError,
  type LinePlan,
  lineDust,
  lineVirtualBytes,
  lineWallet,
  namedOutputs,
  type OutPoint,
  type OwnOutput,
  outputScript,
  parseBitcoinTransaction,
  paymentTag,
  type SweptOutputs,
  signLineTransaction,
  sweptOutputs,
  UpstreamUnavailableError,
  untagged,
} from '@causeway/core'
import {
  AlreadyMarkedError,
  type LineInputs,
  type LinePayingChain,
  type LinePayingFamily,
  type LinePayingOptions,
  type LineWork,
} from '../../family/linePayingChain.ts'
import { NodeError } from '../../rpc/nodeError.ts'
import { confirmationsOf } from '../finality.ts'
import { openQuorums } from '../openQuorums.ts'
import { besideQuestion, type LineReading, lineQuestion } from './lineReading.ts'
import { bitcoindPayingView, esploraPayingView } from './payingViews.ts'
import { createPaymentLine } from './paymentLine.ts'

const readTimeoutMs = 7_000
const amountMax = 21_000_000n * 10n ** 8n

/** Payments of one wallet as one line of transactions. See decision 29. */
export const bitcoinPaying: LinePayingFamily = {
  open: openBitcoinPaying,
  // A file in its place is named by BITCOIN_PRIVATE_KEY_FILE.
  keySetting: 'BITCOIN_PRIVATE_KEY',
  // Six blocks: one is found within it in all but one of four hundred hours.
  landsWithinSeconds: 3_600,
}

function openBitcoinPaying({ chain, key, firstOutput, nowMs }: LinePayingOptions): LinePayingChain {
  const network = bitcoinNetworkOf(chain.network)
  const codec = createBitcoinCodec(network)
  // CAST: the form of a key was checked when its setting was read.
  const wallet = lineWallet(hexToBytes(key.reveal() as `0x${string}`), network)
  const confirmations = confirmationsOf(chain)
  const { nodes, api } = openQuorums(chain, {
    node: bitcoindPayingView,
    api: esploraPayingView,
  })
  const quorum = nodes ?? api
  if (quorum === undefined) throw new ConfigurationError(`chain ${chain.id} has no endpoint`)
  const named = quorum
  const outside = [chain.depository, ...(chain.additionalDepositories ?? [])].flatMap((one) =>
    one === undefined ? [] : [codec.canonicalAddress(one)],
  )
  const line = createPaymentLine(wallet, firstOutput)
  const askedOf = { threshold: quorum.threshold, confirmations, wallet, line, nowMs }
  /** Where the line ended when it was looked at last. */
  let known: OutPoint = firstOutput

  /** Whoever names one more is believed nothing: each is looked at by the quorum. */
  async function listedOutputs(address = wallet.address): Promise<readonly OwnOutput[]> {
    const signal = AbortSignal.timeout(readTimeoutMs)
    const answers = await (api ?? named).askEach((view, own) => view.nameOutputs(address, own, 'own'), signal)
    const all = answers.flatMap(({ said = [] }) => (said === 'refused' ? [] : said))
    return [...new Map(all.map((one) => [`${one.txid}:${one.vout}`, one])).values()]
  }

  /** What it holds where it is final and unspent, whatever its list says. */
  async function finalOutput(output: OutPoint, script: Uint8Array): Promise<readonly OwnOutput[]> {
    const question = besideQuestion({ ...askedOf, output, script })
    const { facts } = await named.read({ ...question, signal: AbortSignal.timeout(readTimeoutMs) })
    const { txid, vout } = output
    return facts.value === undefined ? [] : [{ txid, vout, value: facts.value }]
  }

  async function reading(asked: readonly OutPoint[]): Promise<LineReading> {
    const places = new Map([firstOutput, known, ...asked].map((one) => [`${one.txid}:${one.vout}`, one]))
    const question = lineQuestion({ ...askedOf, places: [...places.values()] })
    const { facts } = await named.read({ ...question, signal: AbortSignal.timeout(readTimeoutMs) })
    return facts
  }

  async function look(hashes: readonly string[]) {
    const asked = hashes.map((txid) => ({ txid, vout: 0 }))
    let facts = await reading(asked)
    // Somebody else's transaction leads on from what is known here: a process before the database was restored.
    if (facts.tip === undefined) facts = await reading([...asked, ...(await listedOutputs())])
    const { tip } = facts
    if (tip === undefined)
      throw new UpstreamUnavailableError(
        `No endpoint of chain ${chain.id} shows where the wallet's line ends.`,
      )
    known = tip
    return { ...facts, tip }
  }

  async function readAny(txid: string) {
    const signal = AbortSignal.timeout(readTimeoutMs)
    const answers = await named.askEach((view, own) => view.readTransaction(txid, own), signal)
    return answers.find(({ said }) => said !== undefined)?.said?.transaction
  }

  async function stateAt(place: OutPoint, id: `0x${string}`) {
    const isReached = await line.reaches(place, readAny)
    if (isReached === undefined)
      throw new UpstreamUnavailableError(`The wallet's line on chain ${chain.id} cannot be read as a whole.`)
    if (!isReached) throw new Error('a transaction must lead the line of its wallet on')
    return line.stateAt(place, id)
  }

  function planOf(work: LineWork, { parent, gathered }: LineInputs): LinePlan {
    const payments = work.payments.map(({ recipient, amount }) => ({
      script: outputScript(recipient, network),
      value: amount,
    }))
    const tag = work.mark === undefined ? untagged : paymentTag(wallet.key, work.mark.kind, work.mark.id)
    return { parent, gathered, swept: work.swept, payments, orderId: work.orderId, tag }
  }

  return {
    address: wallet.address,
    publicKey: bytesToHex(wallet.publicKey),
    depository: outside[0],
    currency: codec.nativeCurrency,
    kept: lineDust,
    look,
    async readFinal(id) {
      const { finalTip, finalSeconds } = await look([])
      return {
        state: finalTip === undefined ? 'open' : line.stateAt(finalTip, id),
        timestampSeconds: finalSeconds,
      }
    },
    stateAt,
    async besideLine() {
      const found = await listedOutputs()
      const beside: OwnOutput[] = []
      for (const output of found) {
        if ((await line.reaches(output, readAny)) !== false) continue
        beside.push(...(await finalOutput(output, wallet.script)))
      }
      return beside
    },
    depositAddress(terms) {
      const made = bitcoinDepositAddress(terms, network)
      return { ...made, name: bitcoinDepositName(made.address, network) }
    },
    async outputsToSweep(address) {
      const script = outputScript(address, network)
      const looked = namedOutputs(await listedOutputs(address))
      const final = looked.map((output) => finalOutput(output, script))
      return sweptOutputs((await Promise.all(final)).flat())
    },
    refuse(work) {
      if (work.swept !== undefined) return refuseSweep(work, work.swept)
      for (const { recipient, amount } of work.payments) {
        const script = scriptOf(recipient)
        if (script === undefined) return 'nobody has the key of the recipient'
        if (recipient === wallet.address) return 'the recipient is the fill wallet'
        if (outside.includes(recipient)) return 'the recipient is a depository'
        if (amount < dustOf(script) || amount > amountMax) return 'an amount is none of this chain'
      }
      return undefined
    },
    priceOf: (fees) => (fees instanceof BitcoinFees ? fees.satPerKvb : undefined),
    sizeOf: (work, inputs) => lineVirtualBytes(wallet, planOf(work, inputs)),
    async sign(work, inputs, fee) {
      if (work.mark !== undefined) {
        const state = await stateAt(inputs.parent, work.mark.id)
        if (state !== 'open') throw new AlreadyMarkedError(state)
      }
      return signLineTransaction(wallet, planOf(work, inputs), fee)
    },
    learn(raw) {
      for (const bytes of raw) {
        const transaction = parseBitcoinTransaction(hexToBytes(bytes))
        if (transaction === undefined || line.learn(transaction) === undefined)
          throw new Error('a kept transaction leads no line of this wallet on')
      }
    },
    async broadcast(raw) {
      const signal = AbortSignal.timeout(readTimeoutMs)
      const hex = raw.slice(2)
      const asked = [nodes, api].flatMap((one) => (one === undefined ? [] : [one]))
      const answers = (
        await Promise.all(asked.map((one) => one.askEach((view, own) => view.send(hex, own), signal)))
      ).flat()
      const said = answers.flatMap((one) => (one.said === undefined ? [] : [one.said]))
      if (said.some(({ taken }) => taken)) return
      const refusal = said.find((one) => !one.taken)
      if (refusal !== undefined && !refusal.taken) throw new NodeError({ code: 0, message: refusal.refusal })
      throw new UpstreamUnavailableError('No endpoint took the transaction.')
    },
    async close() {
      await Promise.all([nodes, api].map((one) => one?.close()))
    },
  }

  /** All of it goes into the depository for an order, or back without one; the wallet pays the fee and nothing else. */
  function refuseSweep({ payments, orderId }: LineWork, { outputs }: SweptOutputs): string | undefined {
    const [payment, ...others] = payments
    const held = outputs.reduce((sum, { value }) => sum + value, 0n)
    if (held === 0n) return 'nothing lies at the address'
    if (payment === undefined || others.length > 0 || payment.amount !== held)
      return 'a sweep pays all that it takes'
    if (orderId !== undefined && payment.recipient !== outside[0]) return 'an order is paid for elsewhere'
    return scriptOf(payment.recipient) === undefined ? 'nobody has the key of the recipient' : undefined
  }

  function scriptOf(recipient: string): Uint8Array | undefined {
    try {
      return outputScript(recipient, network)
    } catch (error) {
      if (error instanceof InvalidAddressError) return undefined
      throw error
    }
  }
}
