import type { Hex } from '@causeway/core'
import { encodeDepositNative } from '@causeway/families/rules'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { privateKeyToAccount } from 'viem/accounts'
import {
  native,
  noOrder,
  pay,
  type SignedOrder,
  signedOrder,
} from '../apps/oracle/test/support/protocolActors.ts'
import { type BenchProcess, startOracleServer } from './process.ts'

export const depositsPath = '/attestations/depository-deposits/v1'
export const fillsPath = '/attestations/solver-fills/v1'
export const callerKey = 'caller-key-of-the-bench'
export const keyed = { 'x-api-key': callerKey }

export type OracleNetwork = {
  readonly network: TestNetwork
  /** Requests for final native deposits, each in a transaction and a block of its own. */
  readonly deposits: readonly string[]
  /** Orders that were deposited for by the first of those transactions and paid by others. */
  readonly orders: readonly PaidOrder[]
}

type PaidOrder = SignedOrder & { readonly depositTransaction: Hex; readonly fillTransaction: Hex }

const amount = 1_000_000n
const gas = 300_000n
const maxFeePerGas = 10n ** 11n

/** One chain with everything that the rows ask about. The caller stops the network. */
export async function startOracleNetwork(size: { deposits: number; orders: number }): Promise<OracleNetwork> {
  const network = await startTestNetwork()
  try {
    const [user] = network.keys.users
    if (user === undefined) throw new Error('the network has no user')
    const orders: SignedOrder[] = []
    for (let index = 0; index < size.orders; index += 1) {
      orders.push(
        await signedOrder(network, {
          salt: String(index + 1),
          input: { chain: 'base', currency: native, amount },
          refundTo: user.address,
          output: { chain: 'base', payments: [paymentTo(index)] },
        }),
      )
    }
    const transactions = await sendDeposits(network, size.deposits, orders)
    const paid: PaidOrder[] = []
    for (const [index, order] of orders.entries()) {
      const payments = [paymentTo(index)]
      const fillTransaction = await pay(network, 'base', { orderId: order.orderId, payments })
      paid.push({ ...order, depositTransaction: transactions[index] ?? noOrder, fillTransaction })
    }
    await network.mine('base', 4)
    const deposits = transactions.map((transactionId) => JSON.stringify({ chainId: 'base', transactionId }))
    return { network, deposits, orders: paid }
  } catch (error) {
    await network.stop()
    throw error
  }
}

function paymentTo(index: number) {
  const to: Hex = `0x${(index + 1).toString(16).padStart(40, 'd')}`
  return { to, currency: native, amount: 900_000n }
}

/** Deposits with known nonces, so that none waits for the one before. */
async function sendDeposits(
  network: TestNetwork,
  count: number,
  orders: readonly SignedOrder[],
): Promise<readonly Hex[]> {
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has no user')
  const { walletClient, publicClient } = network.chains.base.chain.as(user)
  const account = privateKeyToAccount(user.privateKey)
  const firstNonce = await publicClient.getTransactionCount({ address: account.address })
  const hashes: Hex[] = []
  for (let index = 0; index < count; index += 1) {
    hashes.push(
      await walletClient.sendTransaction({
        account,
        chain: walletClient.chain,
        gas,
        maxFeePerGas,
        maxPriorityFeePerGas: 0n,
        to: network.deployment.base.depository,
        data: encodeDepositNative(user.address, orders[index]?.orderId ?? noOrder),
        value: amount,
        nonce: firstNonce + index,
      }),
    )
  }
  return hashes
}

/** Environment of an oracle alone on the network; `more` changes it. */
export function oracleEnvironment(
  { keys, chains }: TestNetwork,
  more: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    ENVIRONMENT: 'local',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: '0',
    OPS_PORT: '0',
    BASE_RPC_URL: chains.base.url,
    OPTIMISM_RPC_URL: chains.optimism.url,
    RELAY_RPC_URL: chains.hub.url,
    SIGNING_MODULE: 'raw-private-key',
    ECDSA_PRIVATE_KEY: keys.oracles[0].privateKey,
    API_KEYS: `${callerKey}:bench`,
    LOG_LEVEL: 'info',
    ...more,
  }
}

/** The oracle with the routes of the bench beside its own. */
export function startOracle(
  network: TestNetwork,
  more: Readonly<Record<string, string>> = {},
): Promise<BenchProcess> {
  return startOracleServer(oracleEnvironment(network, { BENCH_ANSWER_BYTES: '100', ...more }))
}

/** The text of an answer. @throws Error for anything but a 200 */
export async function ask(url: string, path: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', ...keyed }
  const response = await fetch(url + path, { method: 'POST', headers, body })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

/** Requests for fills: the onchain ids of the deposits are what the oracle itself says they are. */
export async function fillBodies(url: string, orders: readonly PaidOrder[]): Promise<readonly string[]> {
  const bodies: string[] = []
  for (const { order, orderSignature, depositTransaction, fillTransaction } of orders) {
    const text = await ask(
      url,
      depositsPath,
      JSON.stringify({ chainId: 'base', transactionId: depositTransaction }),
    )
    const { messages } = JSON.parse(text)
    const inputs = [
      { transactionId: depositTransaction, onchainId: messages[0].result.onchainId, inputIndex: 0 },
    ]
    bodies.push(JSON.stringify({ order, orderSignature, inputs, fill: { transactionId: fillTransaction } }))
  }
  return bodies
}
