// An oracle over HTTP that signs for real. It believes the request: what is tested here is what the
// service makes of answers, honest and other.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  bytes32Text,
  bytesToHex,
  evmAddressText,
  fillMessageId,
  type Hex,
  hexText,
  type NetworkOf,
  nonceMappingDigest,
  nonceMappingEntry,
  type Order,
  refundMessageId,
} from '@causeway/core'
import { mainNetwork, type VmType } from '@causeway/core/encodings'
import { signingDigest } from '@causeway/families/rules'
import { recoverSigner } from '@causeway/signer'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'

export type OracleMode =
  | 'honest'
  /** Signs the execution alone. */
  | 'execution_only'
  /** Signs the refund of the same order. */
  | 'refund'
  /** Signs the fill of an order with another salt. */
  | 'other_order'
  /** Signs with a key that nobody listed. */
  | 'unlisted'
  | 'refuses'
  /** Has no trace of what a contract got. */
  /** Signs the message, and holds the execution at its signing cap. */
  | 'holds'
  | 'garbage'

export type StandInOracle = {
  readonly url: string
  readonly signer: Hex
  mode: OracleMode
  /** Chains that it says it has halted. */
  halted: readonly string[]
  asked: number
  /** Paths that were asked for, in order. */
  readonly paths: string[]
  stop(): Promise<void>
}

type FillRequest = {
  readonly order: Order
  readonly orderSignature: Hex
  readonly inputs: readonly {
    readonly transactionId: string
    readonly onchainId: Hex
    readonly inputIndex: number
  }[]
  readonly fill: { readonly transactionId: string }
  /** Present in place of `fill` where a refund is asked for. */
  readonly refunds?: Parameters<typeof refundMessageId>[0]['data']['refunds']
}

const familyOf: ReadonlyMap<string, VmType> = new Map([
  ['solana', 'solana-vm'],
  ['tron', 'tron-vm'],
  ['hyperliquid', 'hyperliquid-vm'],
  ['lighter', 'lighter-vm'],
])

/** Networks of the chains of the local configuration that requests of tests use. */
export const localNetworkOf: NetworkOf = (key) => {
  if (key === 'bitcoin') return { vmType: 'bitcoin-vm', network: 'regtest' }
  return mainNetwork(familyOf.get(key) ?? 'ethereum-vm')
}

export async function startStandInOracle(options: {
  privateKey: Hex
  otherKey: Hex
  orderIdOf: (order: Order) => Hex
}): Promise<StandInOracle> {
  const account = privateKeyToAccount(options.privateKey)
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      if (request.url === '/chains/v1') {
        const chains = oracle.halted.map((id) => ({ id, halted: true }))
        response.end(oracle.mode === 'garbage' ? '{' : JSON.stringify({ chains }))
        return
      }
      // The doctor's probe is no attestation.
      if (request.method === 'GET') {
        response.writeHead(404).end()
        return
      }
      oracle.asked += 1
      oracle.paths.push(request.url ?? '')
      if (oracle.mode === 'garbage') {
        response.end('{"message":')
        return
      }
      if (oracle.mode === 'refuses') {
        response.statusCode = 400
        response.end(JSON.stringify({ errorCode: 'INSUFFICIENT_FILL', message: 'no' }))
        return
      }
      const body = JSON.parse(Buffer.concat(chunks).toString())
      if (request.url?.endsWith('/nonce-mapping/v2') === true) {
        const told = await mappingAnswer(body, account)
        response.statusCode = told === undefined ? 400 : 200
        response.end(JSON.stringify(told ?? { errorCode: 'INVALID_WALLET_SIGNATURE', message: 'no' }))
        return
      }
      // CAST: fills are all else that is asked for.
      response.end(JSON.stringify(await answer(oracle.mode, body as FillRequest, account, options)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // CAST: a listening TCP server has such an address.
  const { port } = server.address() as AddressInfo
  const oracle: StandInOracle = {
    url: `http://127.0.0.1:${port}`,
    // CAST: lower-cased hex stays hex.
    signer: account.address.toLowerCase() as Hex,
    mode: 'honest',
    halted: [],
    asked: 0,
    paths: [],
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return oracle
}

async function answer(
  mode: OracleMode,
  body: FillRequest,
  account: PrivateKeyAccount,
  { orderIdOf, otherKey }: { otherKey: Hex; orderIdOf: (order: Order) => Hex },
): Promise<object> {
  const order = mode === 'other_order' ? { ...body.order, salt: `0x${'77'.repeat(32)}` as const } : body.order
  const result = { orderId: orderIdOf(order), status: 1, totalWeightedInputPaymentBpsDiff: '0' }
  const { orderSignature, inputs, fill, refunds } = body
  const messageId =
    mode === 'refund' || refunds !== undefined
      ? refundMessageId(
          {
            data: {
              order,
              orderSignature,
              inputs,
              refunds: refunds ?? [{ transactionId: fill.transactionId, inputIndex: 0, refundIndex: 0 }],
            },
            result,
          },
          localNetworkOf,
        )
      : fillMessageId({ data: { order, orderSignature, inputs, fill }, result }, localNetworkOf)
  const by = mode === 'unlisted' ? privateKeyToAccount(otherKey) : account
  const signature = await by.signMessage({ message: { raw: messageId } })
  const signed = [{ signer: by.address, signature }]
  return {
    message: {
      data: { order, orderSignature, inputs, fill },
      result,
      signatures: mode === 'execution_only' ? [] : signed,
    },
    ...(mode === 'holds'
      ? { executionHeld: 'SIGNING_CAP' }
      : { execution: { idempotencyKey: messageId, actions: [], signatures: signed } }),
  }
}

/** The hub's mapping of the local network, as every oracle's configuration has it. */
const hubFile = z.object({ evmChainId: z.number(), genericMappingAddress: evmAddressText })

/** Unlike fills, which it believes, it looks at what the wallet signed: nothing else proves a mapping. */
async function mappingAnswer(body: unknown, account: PrivateKeyAccount): Promise<object | undefined> {
  const { walletChainId, wallet, depositor, id, nonce, signature } = mappingRequest.parse(body)
  const mapping = { walletChainId, wallet, depositor, id, nonce: BigInt(nonce) }
  const digest = nonceMappingDigest(mapping, signatureChainOf(Object(body).signatureChainId))
  if (recoverSigner(digest, signature) !== wallet) return undefined
  const entry = nonceMappingEntry(mapping, mainNetwork('hyperliquid-vm'))
  const text = await readFile(new URL('../../../../configs/chains.hub.local.json', import.meta.url), 'utf8')
  const { evmChainId: chainId, genericMappingAddress: verifyingContract } = hubFile.parse(JSON.parse(text))
  const domain = { chainId, verifyingContract }
  const signed = await account.sign({
    hash: bytesToHex(signingDigest({ purpose: 'mapping-entry', domain, entry })),
  })
  return { genericMapping: { ...entry, signatures: [{ oracleSigner: account.address, signature: signed }] } }
}

const mappingRequest = z.object({
  walletChainId: z.string(),
  wallet: evmAddressText,
  depositor: evmAddressText,
  id: bytes32Text,
  nonce: z.string(),
  signature: hexText(200),
})

const signatureChainOf = (key: unknown): number => (key === 'optimism' ? 10 : 8_453)
