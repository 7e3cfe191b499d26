import type { TestNetwork } from '@causeway/localnet'
import { type LocalRequest, localRequest } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'

/** Kind of user: one of a fixed set that was quoted before, or a new one. */
type Asker = 'known' | 'first-seen'

/** Groups with a goal of P17; requests without a currency are answered from memory and would bias the others. */
export type Group = Asker | 'asks a chain' | 'unknown token'

type Kind = {
  readonly name: string
  readonly path: '/price' | '/quote'
  readonly asker: Asker
  /** Percent of all requests. */
  readonly share: number
  readonly request: LocalRequest
  /** Sent with the key of a sponsor. */
  readonly isKeyed?: boolean
  /** Group that differs from the asker's: calls always need a read of their own, whoever asks. */
  readonly group?: Group
  /** Members that no two requests share. */
  readonly more?: (draw: Draw) => object
}

type Draw = { readonly address: () => string; readonly token: string }

export type MixedRequest = {
  readonly kind: string
  readonly group: Group
  readonly path: string
  readonly body: string
  readonly isKeyed: boolean
}

const usdc = 100_000_000n
const ether = 10n ** 18n
const bridge: LocalRequest = { amount: usdc }
const swap: LocalRequest = { pay: 'USDC', receive: 'native', amount: usdc }
const longTail: LocalRequest = { pay: 'TIDE', receive: 'USDC', amount: 50n * ether }

/** A day's mix as widgets and integrators send it: many prices for each quote, few of the rarer forms. */
const kinds: readonly Kind[] = [
  { name: 'price, bridge', path: '/price', asker: 'known', share: 24, request: bridge },
  { name: 'price, bridge', path: '/price', asker: 'first-seen', share: 10, request: bridge },
  { name: 'price, swap', path: '/price', asker: 'known', share: 12, request: swap },
  { name: 'price, swap', path: '/price', asker: 'first-seen', share: 5, request: longTail },
  { name: 'quote, bridge', path: '/quote', asker: 'known', share: 13, request: bridge },
  { name: 'quote, bridge', path: '/quote', asker: 'first-seen', share: 6, request: bridge },
  { name: 'quote, swap', path: '/quote', asker: 'known', share: 6, request: swap },
  { name: 'quote, swap', path: '/quote', asker: 'first-seen', share: 4, request: longTail },
  {
    name: 'quote, calls',
    path: '/quote',
    asker: 'known',
    share: 4,
    request: bridge,
    group: 'asks a chain',
    // `balanceOf` of somebody new, so that no earlier simulation is used again.
    more: ({ address, token }) => ({
      txs: [{ to: token, value: '0', data: `0x70a08231${address().slice(2).padStart(64, '0')}` }],
    }),
  },
  {
    name: 'quote, sponsored',
    path: '/quote',
    asker: 'known',
    share: 8,
    request: bridge,
    isKeyed: true,
    more: () => ({ subsidizeFees: true }),
  },
  {
    name: 'quote, permit',
    path: '/quote',
    asker: 'known',
    share: 4,
    request: bridge,
    isKeyed: true,
    more: () => ({ usePermit: true }),
  },
  {
    name: 'price, unknown token',
    path: '/price',
    asker: 'known',
    share: 4,
    request: bridge,
    group: 'unknown token',
    more: ({ address }) => ({ originCurrency: address() }),
  },
]

const knownUsers = 200

/** Draws one request after the other; the same numbers give the same requests. */
export function createMix(network: TestNetwork, random: () => number): () => MixedRequest {
  const total = kinds.reduce((sum, { share }) => sum + share, 0)
  const address = () =>
    `0x${Array.from({ length: 40 }, () => Math.floor(random() * 16).toString(16)).join('')}`
  const crowd = Array.from({ length: knownUsers }, address)
  const token = network.deployment.optimism.tokens.USDC
  return () => {
    const kind = drawKind(random() * total)
    const user =
      kind.asker === 'first-seen' ? address() : (crowd[Math.floor(random() * crowd.length)] ?? address())
    // Up to a hundredth more, so that no two requests meet and merge.
    const amount =
      kind.request.amount + (kind.request.amount * BigInt(Math.floor(random() * 1e6))) / 10n ** 8n
    const more = { user, recipient: user, ...kind.more?.({ address, token }) }
    return {
      kind: `${kind.name}, ${kind.asker}`,
      group: kind.group ?? kind.asker,
      path: kind.path,
      body: JSON.stringify(localRequest(network, { ...kind.request, amount, more })),
      isKeyed: kind.isKeyed ?? false,
    }
  }
}

function drawKind(point: number): Kind {
  let left = point
  for (const kind of kinds) {
    left -= kind.share
    if (left < 0) return kind
  }
  throw new Error('the shares of the mix are not those that were summed')
}
