import type { Hex } from '@causeway/core'
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  http,
  type PublicClient,
  type TestClient,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { LocalClients } from './clients.ts'

/** Clients of one anvil node. Calls made in one tick travel as one HTTP request. */
export type LocalChain = {
  readonly chainId: number
  readonly client: PublicClient
  readonly node: TestClient
  /** Clients that sign as one account, one transaction at a time. */
  as(account: LocalAccount): LocalClients
  /**
   * Signs with consecutive nonces, sends everything in one request and waits until all are mined.
   * @throws Error naming the transactions that reverted
   */
  send(from: LocalAccount, transactions: readonly LocalTransaction[]): Promise<void>
}

export type LocalTransaction = {
  /** For the error message. */
  readonly what: string
  readonly to: Hex
  readonly data?: Hex
  readonly valueWei?: bigint
}

/**
 * Gas and fees of every transaction: nothing is estimated. The node estimates at the time of the last block, and a pool
 * whose transaction is mined a second later also writes its price observation, for which the estimate is too low.
 * The gas is above what anything here needs and under the limit that one transaction has since Osaka.
 */
const fixedGas = {
  gas: 16_000_000n,
  maxFeePerGas: 100_000_000_000n,
  maxPriorityFeePerGas: 0n,
} as const
const receiptPollMs = 10
const receiptLagMs = 2_000
const minedTimeoutMs = 60_000

/** Connects to a node; nothing is sent yet. */
export function connectLocalChain(url: string, chainId: number): LocalChain {
  const transport = http(url, { batch: { batchSize: 200 }, timeout: minedTimeoutMs })
  const chain = defineChain({
    id: chainId,
    name: `local ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
    prepareTransactionRequest: [
      async (request) => Object.assign({}, request, fixedGas),
      { runAt: ['beforeFillTransaction'] },
    ],
  })
  const client = createPublicClient({ chain, transport, cacheTime: 0, pollingInterval: receiptPollMs })
  return {
    chainId,
    client,
    node: createTestClient({ chain, mode: 'anvil', transport }),
    as: ({ privateKey }) => ({
      publicClient: client,
      walletClient: createWalletClient({ chain, transport, account: privateKeyToAccount(privateKey) }),
    }),
    async send(from, transactions) {
      if (transactions.length === 0) return
      const statuses = await sendAll(client, {
        chainId,
        account: privateKeyToAccount(from.privateKey),
        transactions,
      })
      const reverted = transactions.filter((_, index) => statuses[index] !== '0x1').map(({ what }) => what)
      if (reverted.length > 0) throw new Error(`reverted on chain ${chainId}: ${reverted.join(', ')}`)
    },
  }
}

async function sendAll(
  client: PublicClient,
  args: {
    readonly chainId: number
    readonly account: PrivateKeyAccount
    readonly transactions: readonly LocalTransaction[]
  },
): Promise<readonly Hex[]> {
  const { chainId, account, transactions } = args
  const firstNonce = await client.getTransactionCount({ address: account.address, blockTag: 'pending' })
  const signed = await Promise.all(
    transactions.map(({ to, data, valueWei }, index) =>
      account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce: firstNonce + index,
        to,
        data: data ?? '0x',
        value: valueWei ?? 0n,
        ...fixedGas,
      }),
    ),
  )
  const hashes = await Promise.all(
    signed.map((serializedTransaction) => client.sendRawTransaction({ serializedTransaction })),
  )
  const { address } = account
  return Promise.all(
    hashes.map((hash, index) => minedStatus(client, { hash, address, nonce: firstNonce + index })),
  )
}

/** Waits for a receipt. @throws Error where another transaction took the nonce, because the node then drops this one */
async function minedStatus(
  client: PublicClient,
  { hash, address, nonce }: { readonly hash: Hex; readonly address: Hex; readonly nonce: number },
): Promise<Hex> {
  const deadline = Date.now() + minedTimeoutMs
  let nonceTakenAtMs: number | undefined
  while (Date.now() < deadline) {
    const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (receipt !== null) return receipt.status
    if ((await client.getTransactionCount({ address })) > nonce) nonceTakenAtMs ??= Date.now()
    // A node counts a transaction somewhat before it shows the receipt.
    if (nonceTakenAtMs !== undefined && Date.now() - nonceTakenAtMs > receiptLagMs)
      throw new Error(`nonce too low: transaction ${hash} was dropped for another one`)
    await new Promise((resolve) => setTimeout(resolve, receiptPollMs))
  }
  throw new Error(`transaction ${hash} was not mined in ${minedTimeoutMs} ms`)
}
