// Goal: the solver as an operator runs it fills orders of Base on Solana, once each, though it is killed again and
// again and the service's answers get lost; and gives the deposit of one that it never filled back on Base once it has
// closed it on Solana. Method: real processes, nodes and deposits; a scripted quote-api; what counts is what the chains
// hold at the end.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setInterval } from 'node:timers'
import {
  type Hex,
  orderId as hashOf,
  mainNetwork,
  type NetworkOf,
  type Order,
  paymentMarkerAddress,
  solanaCodec,
  solanaLibrary,
} from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { deployDepository, SolanaNode, startRpcServer } from '@causeway/localnet/standIns/solana'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { deposit, freshAddress, type PaidOrder, refundItem, signOrder } from './support/paidOrders.ts'
import { type ScriptedItem, startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBed, startSolverBed } from './support/solverBed.ts'
import { changedConfigs, surviveKills } from './support/solverBench.ts'

const chainId = 792_703_809
const key: Hex = `0x${'5e'.repeat(32)}`
const amount = 1_000_000n
const native = solanaCodec.nativeCurrency
const networkOf: NetworkOf = (name) => mainNetwork(name === 'solana' ? 'solana-vm' : 'ethereum-vm')
const nowSeconds = () => BigInt(Math.floor(Date.now() / 1_000))
const looseFile = z.looseObject({ chains: z.record(z.string(), z.unknown()) })

let bed: SolverBed
let node: SolanaNode
let wallet: string
let rpcUrl: string
const ends: (() => unknown)[] = []

beforeAll(async () => {
  bed = await startSolverBed()
  node = new SolanaNode()
  const rpc = await startRpcServer(node)
  wallet = solanaLibrary()
    .Keypair.fromSeed(Buffer.from(key.slice(2), 'hex'))
    .publicKey.toBase58()
  deployDepository(node, await depositoryOf())
  node.airdrop(wallet, 10n ** 12n)
  const ticking = setInterval(() => node.tick(nowSeconds()), 400)
  ends.push(() => clearInterval(ticking), rpc.stop)
  rpcUrl = rpc.url
})
afterAll(async () => {
  for (const end of ends) await end()
  await bed?.stop()
})

/** Variables of a solver that pays on Solana too. */
const overrides = async () => ({
  ...{ SOLANA_RPC_URL: rpcUrl, ED25519_PRIVATE_KEY: key, SOLANA_FILL_WALLET_ADDRESS: wallet },
  CONFIG_DIR: await withSolana(),
})

const configs = join(import.meta.dirname, '../../../configs')
async function depositoryOf(): Promise<string> {
  const file = z.object({
    chains: z.array(z.looseObject({ id: z.string(), depository: z.string().optional() })),
  })
  const { chains } = file.parse(JSON.parse(await readFile(join(configs, 'chains.local.json'), 'utf8')))
  return chains.find(({ id }) => id === 'solana')?.depository ?? ''
}

/** The local configuration, with Solana quoted and paid on; a SOL has the price of an ether. */
async function withSolana(): Promise<string> {
  const listed = { source: 'test', solver: true, address: native, symbol: 'SOL', name: 'Solana', decimals: 9 }
  const folder = await changedConfigs('quote.local.json', (text) => {
    const file = looseFile
      .extend({ assets: z.array(z.looseObject({ id: z.string() })) })
      .parse(JSON.parse(text))
    const assets = [
      ...file.assets.filter(({ id }) => id !== 'sol'),
      { id: 'sol', class: 'major', priceKey: 'ETH/USD' },
    ]
    const solana = {
      ...{ chainId, name: 'solana', displayName: 'Solana', blockTimeMs: 400, headMaxAgeMs: 60_000 },
      ...{ fillWallet: '$SOLANA_FILL_WALLET_ADDRESS', feeModel: { kind: 'priority-fee' } },
      ...{ pinPolicy: [{ confirmations: 1 }], currencies: [{ ...listed, asset: 'sol' }] },
    }
    return JSON.stringify({ ...file, assets, chains: { ...file.chains, solana } })
  })
  const path = join(folder, 'solver.local.json')
  const solver = looseFile.parse(JSON.parse(await readFile(path, 'utf8')))
  const policy = {
    ...{ maxFeePerGasWei: '100000', gasPerHourWei: '1000000000', relayGasPerHourWei: '0' },
    floors: [{ currency: native, amount: '100000000' }],
  }
  await writeFile(path, JSON.stringify({ ...solver, chains: { ...solver.chains, solana: policy } }))
  return folder
}

type Paid = PaidOrder & { readonly payee: string }

/** An order of Base that pays on Solana, with its deposit. */
async function paidOnSolana(refundTo?: Hex): Promise<Paid> {
  const signed = await signOrder(bed.network, { from: 'base', ...(refundTo && { refundTo }) })
  const payee = solanaLibrary().Keypair.generate().publicKey.toBase58()
  const paid = { recipient: payee, currency: native, minimumAmount: '1', expectedAmount: amount.toString() }
  const order: Order = {
    ...signed.order,
    output: { ...signed.order.output, chainId: 'solana', payments: [paid], calls: [], extraData: '0x' },
  }
  const orderId = hashOf(order, networkOf)
  const signer = privateKeyToAccount(bed.network.keys.orderSigner.privateKey)
  const orderSignature = await signer.signMessage({ message: { raw: orderId } })
  const [deposited] = await deposit(bed.network, [{ ...signed, order, orderId, orderSignature }])
  if (deposited === undefined) throw new Error('one order is one order')
  return { ...deposited, payee }
}

let items = 0
function fillOf({ orderId, order, orderSignature, deposits, payee }: Paid): ScriptedItem {
  items += 1
  return {
    ...{ id: `solana-${items}`, kind: 'fill' },
    payload: {
      ...{ orderId, chainId, deadline: order.output.deadline, order, orderSignature, deposits },
      payments: [{ recipient: payee, currency: native, amount: amount.toString() }],
      calls: [],
    },
  }
}
const lamports = (address: string) => node.account(address, 'finalized')?.lamports ?? 0n

test('every order is paid once, however often its solver is killed', async () => {
  const work = await startScriptedWork()
  const settings = await bed.bench.settings(work, await overrides())
  const orders: Paid[] = []
  while (orders.length < 6) orders.push(await paidOnSolana())
  const waiting = [...orders]
  const solver = await surviveKills(settings, { work, kills: 3 }, async () => {
    for (const order of waiting.splice(0, 2)) work.add(fillOf(order))
  })
  await solver.ready()
  await waitUntil('all are paid', () => orders.every(({ payee }) => lamports(payee) > 0n), {
    circumstances: () => solver.output(),
  })
  node.mine(200)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(orders.map(({ payee }) => lamports(payee))).toEqual(orders.map(() => amount))
  expect(solver.output()).not.toContain(key.slice(2))
})

test('every claim is paid once, however often its solver is killed between sending and reporting', async () => {
  const work = await startScriptedWork()
  const settings = await bed.bench.settings(work, await overrides())
  const payees: string[] = []
  const claim = (): ScriptedItem => {
    items += 1
    const payee = solanaLibrary().Keypair.generate().publicKey.toBase58()
    payees.push(payee)
    return {
      ...{ id: `solana-${items}`, kind: 'claim' },
      payload: {
        ...{ claimId: `0x${items.toString(16).padStart(64, 'c')}`, chainId },
        ...{ deadline: Number(nowSeconds()) + 3_600, recipient: payee, currency: native },
        amount: amount.toString(),
      },
    }
  }
  const solver = await surviveKills(settings, { work, kills: 3 }, async () => {
    for (const item of [claim(), claim()]) work.add(item)
  })
  await solver.ready()
  await waitUntil('all are paid', () => payees.every((payee) => lamports(payee) > 0n), {
    circumstances: () => solver.output(),
  })
  node.mine(200)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(payees.map(lamports)).toEqual(payees.map(() => amount))
})

test('a deposit on Base goes back once its order is closed on Solana for good', async () => {
  const { work, solver } = await bed.start(await overrides())
  const refundTo = freshAddress()
  const order = await paidOnSolana(refundTo)
  work.add(refundItem(bed.network, order, { amount: '4321' }))
  await waitUntil('it is given back', async () => (await bed.nativeBalance('base', refundTo)) === 4321n, {
    circumstances: () => solver.output(),
  })
  const marker = node.account(paymentMarkerAddress(wallet, order.orderId), 'finalized')
  expect(marker?.data.length).toBe(2)
  const late = fillOf(order)
  work.add(late)
  await waitUntil('it is refused', () => work.failures.has(late.id))
  expect(lamports(order.payee)).toBe(0n)
})
