// A Lighter of stand-ins for a service that quotes it: three endpoints and an explorer of one exchange. A user's transfer is
// signed by the exchange's own code, as the public client's adapter has it signed, and by the owner of the account.
import { type Hex, Secret } from '@causeway/core'
import {
  lighterTransferHasher,
  makeLighterKey,
  openLighterSigner,
  type UnsignedTransfer,
} from '@causeway/families'
import { lighterTransferMessage } from '@causeway/families/rules'
import {
  createLighterExchange,
  type LighterExchange,
  type LighterNode,
  startLighterNode,
} from '@causeway/localnet/standIns/lighter'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { z } from 'zod'
import type { QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import type { OpenWork } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'

/** The chain id that public clients know. */
export const lighterChainId = 3_586_256
export const perpsDollars = '0'
export const lighterEther = '1'
/** As the local configuration has it. */
export const lighterDepository = '900001'
/** Chain id of the test network, which the local configuration names. */
const circuitChainId = 300n
export const solverKey: Hex = `0x${'5e'.repeat(32)}`
const solver = { account: '500', key: solverKey }
/** API-key index of every account here. */
export const apiKeyIndex = 4

export type LighterUser = { readonly account: string; readonly key: Hex }

export type LighterChain = {
  readonly exchange: LighterExchange
  /** The first of three may be made a liar. */
  readonly nodes: readonly LighterNode[]
  readonly variables: Readonly<Record<string, string>>
  /** Lists it in a quote file, as an operator would. */
  describe(quoteFile: unknown): unknown
  stop(): Promise<void>
}

type Json = Record<string, unknown>

/** @param withSolver its account is listed, and holds ten thousand dollars and five ether */
export async function startLighterChain(withSolver = false): Promise<LighterChain> {
  const exchange = createLighterExchange({
    lighterChainId: circuitChainId,
    hashTransfer: () => lighterTransferHasher(circuitChainId),
  })
  exchange.setAccount(lighterDepository, `0x${'aa'.repeat(20)}`)
  exchange.setAccount(solver.account, privateKeyToAddress(solver.key), {
    [perpsDollars]: 10_000_000_000n,
    [lighterEther]: 500_000_000n,
  })
  const nodes = await Promise.all([1, 2, 3].map(() => startLighterNode(0, exchange)))
  // No local network may look like the main one.
  for (const node of nodes) node.setContract(`0x${'1f'.repeat(20)}`)
  return {
    exchange,
    nodes,
    variables: {
      LIGHTER_RPC_URL: nodes.map(({ url }) => url).join(','),
      LIGHTER_EXPLORER_API_URL: nodes[1]?.explorerUrl ?? '',
    },
    describe(quoteFile) {
      const file = Object(quoteFile)
      const listed = { solver: true, source: 'local network' }
      const described = {
        chainId: lighterChainId,
        name: 'lighter',
        displayName: 'Lighter (local)',
        blockTimeMs: 1_000,
        headMaxAgeMs: 60_000,
        feeModel: { kind: 'flat', transferFee: '3000000' },
        pinPolicy: [{ finalized: true }],
        ...(withSolver && { fillWallet: solver.account }),
        currencies: [
          {
            address: perpsDollars,
            symbol: 'USDC',
            name: 'USD Coin',
            decimals: 6,
            asset: 'usdc',
            ...listed,
          },
          {
            address: lighterEther,
            symbol: 'ETH',
            name: 'Ether',
            decimals: 8,
            asset: 'eth',
            ...listed,
          },
        ],
      }
      return { ...file, chains: { ...file.chains, lighter: described } } satisfies Json
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

/** Endpoints that a transfer is sent to. */
export type LighterEndpoints = {
  readonly nodes: readonly { readonly url: string }[]
  /** Absent: its time is the clock's. */
  readonly exchange?: Pick<LighterExchange, 'nowMs'>
}

let users = 0

/** Somebody with an account of a thousand dollars and one ether. */
export const fundedLighterUser = (at: Pick<LighterChain, 'exchange'>): LighterUser =>
  userWith(at, { [perpsDollars]: 1_000_000_000n, [lighterEther]: 100_000_000n })

export const emptyLighterAccount = (at: Pick<LighterChain, 'exchange'>): string => userWith(at, {}).account

export const heldOnLighter = ({ exchange }: Pick<LighterChain, 'exchange'>, account: string): bigint =>
  exchange.accounts.get(account)?.held.get(perpsDollars) ?? 0n

function userWith(
  { exchange }: Pick<LighterChain, 'exchange'>,
  held: Readonly<Record<string, bigint>>,
): LighterUser {
  users += 1
  const [account, key] = [`${30_000 + users}`, `0x${(0x9000 + users).toString(16).padStart(64, '0')}` as Hex]
  exchange.setAccount(account, privateKeyToAddress(key), held)
  return { account, key }
}

export const transferStep = z.object({
  action: z.object({
    type: z.literal('transfer'),
    parameters: z.object({
      toAccountIndex: z.number(),
      assetIndex: z.number(),
      fromRouteType: z.number(),
      toRouteType: z.number(),
      amount: z.number(),
      usdcFee: z.number(),
      memo: z.string(),
    }),
  }),
})

/** As the public client's adapter does it. @returns the id */
export async function executeLighterStep(
  at: LighterEndpoints,
  data: unknown,
  user: LighterUser,
): Promise<string> {
  const { parameters } = transferStep.parse(data).action
  const whole = (value: number) => BigInt(value)
  return sendTransfer(at, user, {
    toAccountIndex: whole(parameters.toAccountIndex),
    assetIndex: whole(parameters.assetIndex),
    fromRouteType: whole(parameters.fromRouteType),
    toRouteType: whole(parameters.toRouteType),
    amount: whole(parameters.amount),
    usdcFee: whole(parameters.usdcFee),
    // CAST: a memo is 0x and 64 hex digits, or the exchange refuses it.
    memo: parameters.memo as Hex,
  })
}

export const depositOnLighter = (
  at: Pick<LighterChain, 'exchange' | 'nodes'>,
  quote: QuoteAnswer,
  user: LighterUser,
): Promise<string> => executeLighterStep(at, quote.steps[0]?.items[0]?.data, user)

/** Payment of a solver for a fill or a refund: the whole amount, with the item's order id. @returns the id */
export async function payOnLighter(
  at: Pick<LighterChain, 'exchange' | 'nodes'>,
  item: OpenWork,
  change: { readonly amount?: bigint; readonly orderId?: Hex } = {},
): Promise<string> {
  if (item.kind !== 'fill' && item.kind !== 'refund') throw new Error(`cannot pay a ${item.kind}`)
  const [asked] = item.kind === 'fill' ? item.payload.payments : [item.payload]
  if (asked === undefined) throw new Error('nothing is to be paid')
  const isPerps = asked.currency === perpsDollars
  const [asset, route] = isPerps ? [3n, 0n] : [BigInt(asked.currency), 1n]
  return sendTransfer(at, solver, {
    toAccountIndex: BigInt(asked.recipient),
    assetIndex: asset,
    fromRouteType: route,
    toRouteType: route,
    amount: change.amount ?? BigInt(asked.amount),
    usdcFee: at.exchange.transferFee,
    // CAST: an order id is 32 bytes of hex.
    memo: change.orderId ?? (item.payload.orderId as Hex),
  })
}

let keys: Promise<string> | undefined

async function sendTransfer(
  { nodes, exchange }: LighterEndpoints,
  { account, key }: LighterUser,
  moved: Omit<UnsignedTransfer, 'nonce' | 'fromAccountIndex' | 'apiKeyIndex'>,
): Promise<string> {
  keys ??= makeLighterKey()
  const signer = await openLighterSigner({
    lighterChainId: circuitChainId,
    apiKey: new Secret(await keys),
    account: BigInt(account),
    apiKeyIndex,
    nowMs: () => exchange?.nowMs() ?? Date.now(),
  })
  const url = nodes[0]?.url ?? ''
  const { nonce } = Object(
    await (
      await fetch(`${url}/api/v1/nextNonce?account_index=${account}&api_key_index=${apiKeyIndex}`)
    ).json(),
  )
  const of = { nonce: BigInt(nonce), fromAccountIndex: BigInt(account), apiKeyIndex: BigInt(apiKeyIndex) }
  const transfer = { ...moved, ...of }
  const { info, hash } = signer.signTransfer(transfer)
  const message = lighterTransferMessage({ ...transfer, lighterChainId: circuitChainId })
  const L1Sig = await privateKeyToAccount(key).signMessage({ message })
  const body = new URLSearchParams({ tx_type: '12', tx_info: JSON.stringify({ ...info, L1Sig }) })
  const answer = Object(await (await fetch(`${url}/api/v1/sendTx`, { method: 'POST', body })).json())
  if (answer.code !== 200) throw new Error(`it was not taken: ${answer.message}`)
  return hash
}
