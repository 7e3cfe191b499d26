// A user with a wallet on Bitcoin, a solver that works by hand, and stand-in oracles, around the real service over two EVM
// chains and a constructed Bitcoin chain: its transactions, ids, headers and merkle trees are real, its work is not.

import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { bitcoinLibrary, outputScript } from '@causeway/families/rules'
import {
  type BitcoinNode,
  ConstructedChain,
  keyOf,
  startBitcoinNode,
  type TestKey,
} from '@causeway/localnet/standIns/bitcoin'
import { z } from 'zod'
import { quoteResponseSchema } from '../../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  type Answer,
  post,
  postPatiently,
  type QuoteAnswer,
  readOk,
} from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import type { OpenWork } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import { type FamilySettling, type QuotedChain, startFamilySettling } from './familySettling.ts'

/** The chain id that public clients know. */
export const bitcoinChainId = 8_253_038
export const bitcoin = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'

export type BitcoinSettling = Omit<BitcoinChain, 'stop'> & FamilySettling

type Json = Record<string, unknown>

/** Pays on Bitcoin where a solver is wanted there. */
export const bitcoinSolver = keyOf('solver')

export type BitcoinChain = QuotedChain & {
  readonly chain: ConstructedChain
  /** Three of them show the chain; the first may be made a liar. */
  readonly nodes: readonly BitcoinNode[]
}

/** @param withSolver its wallet is listed, and holds ten bitcoin */
export async function startBitcoinChain(withSolver = false): Promise<BitcoinChain> {
  const chain = new ConstructedChain()
  if (withSolver)
    chain.mine(
      fundingOf(
        bitcoinSolver.witness.script,
        Array.from({ length: 10 }, () => 100_000_000n),
      ),
    )
  const nodes = await Promise.all([1, 2, 3].map(() => startBitcoinNode(chain)))
  const urlsOf = (api: 'node' | 'esplora') => nodes.map((node) => node.url(api)).join(',')
  return {
    chain,
    nodes,
    variables: {
      BITCOIN_RPC_URL: urlsOf('node'),
      BITCOIN_ESPLORA_COMPATIBLE_API_URL: urlsOf('esplora'),
    },
    // In this world a bitcoin costs what an ether costs, whatever its feed says.
    describe(quoteFile) {
      const file = Object(quoteFile)
      const eth = file.assets.find(({ id }: Json) => id === 'eth')
      const assets = [...file.assets.filter(({ id }: Json) => id !== 'btc'), { ...eth, id: 'btc' }]
      const described = {
        chainId: bitcoinChainId,
        name: 'bitcoin',
        displayName: 'Bitcoin (local)',
        blockTimeMs: 1_000,
        headMaxAgeMs: 10 * 365 * 24 * 3_600_000,
        feeModel: { kind: 'feerate' },
        pinPolicy: [{ confirmations: 1 }],
        ...(withSolver && {
          fillWallet: bitcoinSolver.witness.address,
          depositAddressKey: `0x${Buffer.from(bitcoinSolver.publicKey).toString('hex')}`,
        }),
        currencies: [
          {
            address: bitcoin,
            symbol: 'BTC',
            name: 'Bitcoin',
            decimals: 8,
            asset: 'btc',
            solver: true,
            targetShareBps: 10_000,
            source: 'local network',
          },
        ],
      }
      return { ...file, assets, chains: { ...file.chains, bitcoin: described } }
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

/** @param withSolver its wallet is listed, and holds ten bitcoin */
export const startBitcoinSettling = (withSolver = false): Promise<BitcoinSettling> =>
  startFamilySettling(() => startBitcoinChain(withSolver))

const { Psbt, Transaction } = bitcoinLibrary()
type Psbt = InstanceType<typeof Psbt>
type Transaction = InstanceType<typeof Transaction>

let fundings = 0

/** Outputs from nothing: a constructed block takes that. */
function fundingOf(script: Uint8Array, values: readonly bigint[]): Transaction {
  fundings += 1
  const funding = new Transaction()
  funding.addInput(new Uint8Array(32).fill(fundings), fundings, 0xffff_ffff, Uint8Array.of(0x51))
  for (const value of values) funding.addOutput(script, value)
  return funding
}

/** A user whose outputs are confirmed. */
export function fundedUser(
  { chain }: Pick<BitcoinSettling, 'chain'>,
  values: readonly bigint[],
  kind: 'witness' | 'nested' = 'witness',
): TestKey {
  const user = keyOf(`user ${fundings}`)
  chain.mine(fundingOf(user[kind].script, values))
  return user
}

export const heldOnBitcoin = ({ chain }: Pick<BitcoinSettling, 'chain'>, script: Uint8Array): bigint =>
  chain.unspentOf(script).reduce((sum, { value }) => sum + value, 0n)

/** Request of a quote from Bitcoin to dollars on base; `more` replaces members of the request. */
export function fromBitcoin({ network }: BitcoinSettling, user: string, more: Json = {}): Json {
  return {
    user,
    recipient: userOf(network, 0).address,
    originChainId: bitcoinChainId,
    destinationChainId: 8453,
    originCurrency: bitcoin,
    destinationCurrency: currencyAddress(network, 'base', 'USDC'),
    amount: '2000000',
    tradeType: 'EXACT_INPUT',
    ...more,
  }
}

export const quoteFromBitcoin = async (
  at: BitcoinSettling,
  user: string,
  more: Json = {},
): Promise<QuoteAnswer> =>
  readOk(await postPatiently(`${at.url}/quote`, fromBitcoin(at, user, more)), quoteResponseSchema)

export const askQuote = (at: BitcoinSettling, user: string, more: Json = {}): Promise<Answer> =>
  post(`${at.url}/quote`, fromBitcoin(at, user, more))

const stepData = z.object({ psbt: z.string() })

/** PSBT of the one step of a quote from Bitcoin. */
export function psbtOf({ steps }: QuoteAnswer): Psbt {
  return Psbt.fromHex(stepData.parse(steps[0]?.items[0]?.data).psbt)
}

/** Request of a quote from dollars on base to Bitcoin. */
export const toBitcoin = ({ network }: BitcoinSettling, recipient: string): Json => ({
  originChainId: 8453,
  originCurrency: currencyAddress(network, 'base', 'USDC'),
  destinationChainId: bitcoinChainId,
  destinationCurrency: bitcoin,
  amount: '50000000',
  recipient,
})

export const quoteToBitcoin = (at: BitcoinSettling, recipient: string): Promise<QuoteAnswer> =>
  quoteFromBitcoin(at, userOf(at.network, 0).address, toBitcoin(at, recipient))

/**
 * Payment of a solver on Bitcoin for a fill or a refund; waits for a block.
 * @param change default: the whole amount, with the item's order id @returns the transaction id
 */
export async function payOnBitcoin(
  at: Pick<BitcoinSettling, 'chain' | 'nodes'>,
  item: OpenWork,
  change: { readonly amount?: bigint; readonly orderId?: string } = {},
): Promise<string> {
  if (item.kind !== 'fill' && item.kind !== 'refund') throw new Error(`cannot pay a ${item.kind}`)
  const [asked] = item.kind === 'fill' ? item.payload.payments : [item.payload]
  const [coin] = at.chain.unspentOf(bitcoinSolver.witness.script)
  if (asked === undefined || coin === undefined) throw new Error('nothing is to be paid, or to pay with')
  const { amount = BigInt(asked.amount), orderId = item.payload.orderId } = change
  const { script } = bitcoinSolver.witness
  const psbt = new Psbt()
  psbt.addInput({ hash: coin.txid, index: coin.vout, witnessUtxo: { script, value: coin.value } })
  psbt.addOutput({ script: outputScript(asked.recipient, bitcoinNetworkOf('regtest')), value: amount })
  psbt.addOutput({ script: named(orderId), value: 0n })
  psbt.addOutput({ script, value: coin.value - amount - 1_000n })
  return sendPsbt(at, psbt, bitcoinSolver)
}

/** A deposit of any amount for an order, in a block at once. @returns the transaction id */
export function depositOf(at: Pick<BitcoinSettling, 'chain'>, quote: QuoteAnswer, amount: bigint): string {
  const [paid] = psbtOf(quote).txOutputs
  const [input] = psbtOf(quote).txInputs
  if (paid === undefined || input === undefined) throw new Error('the quote has no deposit')
  const deposit = new Transaction()
  deposit.addInput(input.hash, input.index)
  deposit.addOutput(paid.script, amount)
  deposit.addOutput(named(String(quote.protocol?.v2.orderId)), 0n)
  at.chain.mine(deposit)
  return deposit.getId()
}

/** OP_RETURN with an order id as text. */
function named(orderId: string): Uint8Array {
  return Uint8Array.from([0x6a, orderId.length, ...Buffer.from(orderId)])
}

/** As the public adapter does it: every input signed, the whole finalised and sent. @returns the transaction id */
export const sendPsbt = (
  { nodes }: Pick<BitcoinSettling, 'nodes'>,
  psbt: Psbt,
  { signer }: TestKey,
): Promise<string> => postPsbt(nodes[0]?.url('esplora') ?? '', psbt, signer)

/** @param url of an Esplora-compatible API */
export async function postPsbt(url: string, psbt: Psbt, signer: TestKey['signer']): Promise<string> {
  const transaction = psbt.signAllInputs(signer).finalizeAllInputs().extractTransaction()
  const sent = await fetch(`${url}/tx`, { method: 'POST', body: transaction.toHex() })
  if (!sent.ok) throw new Error(`it was not taken: ${await sent.text()}`)
  return sent.text()
}
