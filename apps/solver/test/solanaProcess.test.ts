// Goal: the solver as an operator runs it fills orders of Base on Solana, once each, though it is killed again and
// again and the service's answers get lost; and gives the deposit of one that it never filled back on Base once it has
// closed it on Solana. Method: real processes, nodes and deposits; a scripted quote-api; what counts is what the chains
// hold at the end.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setInterval } from 'node:timers'
import type { Hex, NetworkOf } from '@causeway/core'
import { mainNetwork, solanaCodec } from '@causeway/core/encodings'
import {
  deriveProgramAddresses,
  paymentMarkerAddress,
  type SolanaAddressProgram,
  solanaDepositAddress,
  solanaDepositName,
  solanaLibrary,
} from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import {
  deployDepository,
  programBytes,
  SolanaNode,
  startRpcServer,
} from '@causeway/localnet/standIns/solana'
import { concat, keccak256, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { configsWithFamily, orderPaidOn } from './support/familyOrders.ts'
import {
  type PaidFamily,
  pause,
  paysEveryClaimOnce,
  paysEveryOrderOnce,
  refundsOnceClosed,
} from './support/paidFamily.ts'
import { type ScriptedItem, startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBed, startSolverBed } from './support/solverBed.ts'
import { surviveKills } from './support/solverBench.ts'

const chainId = 792_703_809
const key: Hex = `0x${'5e'.repeat(32)}`
const amount = 1_000_000n
const native = solanaCodec.nativeCurrency
const networkOf: NetworkOf = (name) => mainNetwork(name === 'solana' ? 'solana-vm' : 'ethereum-vm')
const nowSeconds = () => BigInt(Math.floor(Date.now() / 1_000))

let bed: SolverBed
let node: SolanaNode
let wallet: string
let rpcUrl: string
let addresses: SolanaAddressProgram
const addressProgram = solanaLibrary().Keypair.generate().publicKey.toBase58()
const ends: (() => unknown)[] = []

beforeAll(async () => {
  bed = await startSolverBed()
  node = new SolanaNode()
  const rpc = await startRpcServer(node)
  wallet = solanaLibrary()
    .Keypair.fromSeed(Buffer.from(key.slice(2), 'hex'))
    .publicKey.toBase58()
  const depository = await depositoryOf()
  deployDepository(node, depository)
  node.addProgram(addressProgram, programBytes('depositAddresses'))
  addresses = {
    program: addressProgram,
    depository: { program: depository, addresses: deriveProgramAddresses(depository) },
  }
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
  SOLANA_RPC_URL: rpcUrl,
  ED25519_PRIVATE_KEY: key,
  SOLANA_FILL_WALLET_ADDRESS: wallet,
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
function withSolana(): Promise<string> {
  const listed = { source: 'test', solver: true, address: native, symbol: 'SOL', name: 'Solana', decimals: 9 }
  return configsWithFamily({
    key: 'solana',
    asset: { id: 'sol', priceKey: 'ETH/USD' },
    quoted: {
      chainId,
      name: 'solana',
      displayName: 'Solana',
      blockTimeMs: 400,
      headMaxAgeMs: 60_000,
      fillWallet: '$SOLANA_FILL_WALLET_ADDRESS',
      depositAddressProgram: addressProgram,
      feeModel: { kind: 'priority-fee' },
      pinPolicy: [{ finalized: true }],
      currencies: [{ ...listed, asset: 'sol' }],
    },
    policy: {
      maxFeePerGasWei: '100000',
      gasPerHourWei: '1000000000',
      relayGasPerHourWei: '1000000000',
      floors: [{ currency: native, amount: '100000000' }],
    },
  })
}

const freshAccount = () => solanaLibrary().Keypair.generate().publicKey.toBase58()
const lamports = (address: string) => node.account(address, 'finalized')?.lamports ?? 0n

const family = (): PaidFamily => ({
  bed,
  overrides,
  chain: { chainId },
  currencies: [native],
  claimLifetimeSeconds: 3_600,
  freshPayment: (currency) => ({ recipient: freshAccount(), currency, amount }),
  order: (payment, refundTo) => orderPaidOn(bed.network, { key: 'solana', networkOf, payment, refundTo }),
  held: ({ recipient }) => lamports(recipient),
  async settle() {
    node.mine(200)
    await pause(3_000)
  },
})

test('every order is paid once, however often its solver is killed', async () => {
  const { solver } = await paysEveryOrderOnce(family())
  expect(solver.output()).not.toContain(key.slice(2))
})

test('every claim is paid once, however often its solver is killed between sending and reporting', async () => {
  await paysEveryClaimOnce(family(), 3)
})

/** @source rule P-128 */
const orderTypeHash = keccak256(
  toHex(
    'Order(string version,string solverChainId,address solver,uint256 salt,Input[] inputs,Output output,Fee[] fees)' +
      'Fee(string recipientChainId,bytes recipient,string currencyChainId,bytes currency,uint256 amount)' +
      'Input(InputPayment payment,InputRefund[] refunds)' +
      'InputPayment(string chainId,bytes currency,uint256 amount,uint256 weight)' +
      'InputRefund(string chainId,bytes recipient,bytes currency,uint256 minimumAmount,uint32 deadline,bytes extraData)' +
      'Output(string chainId,OutputPayment[] payments,uint32 deadline,bytes[] calls,bytes extraData)' +
      'OutputPayment(bytes recipient,bytes currency,uint256 minimumAmount,uint256 expectedAmount)',
  ),
)
const orderKey = privateKeyToAccount(`0x${'11'.repeat(32)}`)

/** An address with money, and the work that sweeps it for an order that was signed for it. */
async function sweptAddress(count: number) {
  const lower = orderKey.address.toLowerCase() as Hex // CAST: an address is hex.
  const terms = {
    orderSigner: lower,
    sweeper: wallet,
    depositor: freshAccount(),
    nonce: `0x${String(count).padStart(64, '0')}` as const,
  }
  const made = solanaDepositAddress(terms, addresses)
  node.airdrop(made.address, 5_000_000n)
  const word = `0x${'07'.repeat(32)}` as const
  const salt = `${solanaDepositName(made.address)}${'07'.repeat(12)}` as const
  const order = {
    version: word,
    solverChainId: word,
    solver: `0x${'cc'.repeat(20).padStart(64, '0')}`,
    salt,
    inputs: word,
    output: word,
    fees: word,
  }
  const orderId = keccak256(concat([orderTypeHash, ...Object.values(order).map((one) => one as Hex)])) // CAST: words are hex.
  const orderSignature = await orderKey.signMessage({ message: { raw: orderId } })
  const item: ScriptedItem = {
    id: `sweep-${count}`,
    kind: 'sweep',
    payload: {
      chainId,
      contract: addressProgram,
      depositAddress: made.address,
      currency: native,
      amount: '5000000',
      deadline: Number(nowSeconds()) + 3_600,
      terms,
      order,
      orderSignature,
      deposit: { orderId },
    },
  }
  return { ...made, item }
}

test('every address is swept once, however often its solver is killed, and what is paid later stays for another item', async () => {
  const work = await startScriptedWork()
  const settings = await bed.bench.settings(work, await overrides())
  const vault = addresses.depository.addresses.vault
  const [before, swept] = [lamports(vault), await Promise.all([1, 2, 3, 4, 5, 6].map(sweptAddress))]
  const waiting = [...swept]
  const solver = await surviveKills(settings, { work, kills: 3 }, async () => {
    for (const { item } of waiting.splice(0, 2)) work.add(item)
  })
  await solver.ready()
  await waitUntil('all are swept', () => swept.every(({ address }) => lamports(address) === 0n), {
    circumstances: () => solver.output(),
  })
  for (const { address } of swept) node.airdrop(address, 3_000_000n)
  node.mine(200)
  await pause(3_000)
  expect(lamports(vault) - before).toBe(30_000_000n)
  expect(swept.map(({ address }) => lamports(address))).toEqual(swept.map(() => 3_000_000n))
  // A service that was taken over asks for another program, another wallet or another address's order.
  const [one, other] = [await sweptAddress(7), await sweptAddress(8)]
  const forged: readonly object[] = [
    { contract: wallet },
    { terms: { ...one.terms, sweeper: one.terms.depositor } },
    { depositAddress: other.address },
    { order: Object(other.item.payload).order },
    { goesBack: true, terms: { ...one.terms, depositor: wallet } },
  ]
  for (const [at, change] of forged.entries())
    work.add({ ...one.item, id: `forged-${at}`, payload: { ...one.item.payload, ...change } })
  await waitUntil('all are refused', () => forged.every((_change, at) => work.failures.has(`forged-${at}`)), {
    circumstances: () => solver.output(),
  })
  expect(lamports(one.address)).toBe(5_000_000n)
})

test('a deposit on Base goes back once its order is closed on Solana for good', async () => {
  const { orderId } = await refundsOnceClosed(family())
  const marker = node.account(paymentMarkerAddress(wallet, orderId), 'finalized')
  expect(marker?.data.length).toBe(2)
})
