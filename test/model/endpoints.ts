// Three endpoints of a chain as a service asks them, by the shipped tally: one of them may say anything.
import { type Hex, UpstreamDisagreementError } from '@causeway/core'
import type { QuorumClient, RpcAnswer, RpcCall } from '@causeway/rpc'
import { EndpointFailure } from '@causeway/rpc'
import type { PaymentVoters } from '../../packages/families/src/shared/paymentVotes.ts'
import { EndpointView } from '../../packages/rpc/src/endpointView.ts'
import { createQuorum } from '../../packages/rpc/src/quorumClient.ts'
import type { Chain } from './chain/chain.ts'

export const lies = ['none', 'silent', 'inflated', 'ahead', 'words', 'missing', 'succeeded'] as const
export type Lie = (typeof lies)[number]

/** False answer of the one lying endpoint. Set while a run goes on. */
export type Liar = { lie: Lie }

const endpointCount = 3
const threshold = 2

export function endpointsOf(
  service: string,
  chain: Chain,
): { readonly quorum: QuorumClient; readonly liar: Liar } {
  const liar: Liar = { lie: 'none' }
  const endpoints = Array.from({ length: endpointCount }, (_, index) => ({
    url: `http://${service}-${chain.id}-${index}.test`,
    alias: `${service}-${index}`,
  }))
  const honest: Liar = { lie: 'none' }
  const quorum = createQuorum({ chainId: chain.id, endpoints, threshold }, (endpoint, limits) => {
    const { alias } = endpoint
    const said = alias.endsWith('-0') ? liar : honest
    return new ChainView([endpoint, limits], { chain, liar: said })
  })
  return { quorum, liar }
}

/** Endpoints as a payer uses them: all of them have answered when it decides. */
export function votersOf(service: string, chain: Chain): PaymentVoters & { readonly liar: Liar } {
  const liar: Liar = { lie: 'none' }
  const voters = Array.from({ length: endpointCount }, (_, index) => ({
    alias: `${service}-${index}`,
    voice: `${service}-${index}`,
  }))
  return {
    liar,
    electorate: { voters, threshold },
    async poll(calls, { decide }) {
      const answers = await Promise.all(calls.map((call) => chain.ask(call)))
      const said = answers.map((answer, index) => liesIn(liar, calls[index], answer))
      const votes = voters.map((voter, index) => ({ ...voter, value: index === 0 ? said : answers }))
      const outcome = decide(votes, true)
      if (outcome === undefined) throw new UpstreamDisagreementError(`${chain.id}: no answer`)
      return outcome
    },
  }
}

function liesIn({ lie }: Liar, call: RpcCall | undefined, answer: RpcAnswer): RpcAnswer {
  return answer.ok && call !== undefined ? { ok: true, result: distorted(lie, call, answer.result) } : answer
}

/** Speaks to a chain in place of an HTTP server. */
class ChainView extends EndpointView {
  readonly #chain: Chain
  readonly #liar: Liar

  constructor(
    view: ConstructorParameters<typeof EndpointView>,
    { chain, liar }: { readonly chain: Chain; readonly liar: Liar },
  ) {
    super(...view)
    this.#chain = chain
    this.#liar = liar
  }

  override ask(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    return Promise.all(calls.map((call) => this.askAlone(call)))
  }

  override async askAlone(call: RpcCall): Promise<RpcAnswer> {
    const { lie } = this.#liar
    if (lie === 'silent') throw new EndpointFailure({ alias: this.alias, reason: 'timeout' })
    const answer = await this.#chain.ask(call)
    return answer.ok ? { ok: true, result: distorted(lie, call, answer.result) } : answer
  }
}

const one: Hex = `0x${'1'.padStart(64, '0')}`
const zero: Hex = `0x${'0'.repeat(64)}`
const aheadSeconds = 100_000_000n
const aheadBlocks = 1_000n

function distorted(lie: Lie, { method }: RpcCall, result: unknown): unknown {
  switch (lie) {
    case 'inflated':
      return withLogs(result, (log) => ({ ...log, data: `0x${'f'.repeat(20).padStart(64, '0')}` }))
    case 'succeeded':
      return isRecord(result) && 'status' in result ? { ...result, status: '0x1' } : result
    case 'missing':
      return method.startsWith('eth_getTransaction') ? null : method === 'eth_call' ? '0x' : result
    case 'words':
      if (method !== 'eth_call' || result === '0x') return result
      return BigInt(String(result).slice(0, 66)) === 0n ? one : zero
    case 'ahead':
      if (method !== 'eth_getBlockByNumber' || !isRecord(result)) return result
      return {
        ...result,
        number: quantity(BigInt(String(result['number'])) + aheadBlocks),
        timestamp: quantity(BigInt(String(result['timestamp'])) + aheadSeconds),
      }
    default:
      return result
  }
}

const quantity = (value: bigint) => `0x${value.toString(16)}`

function withLogs(result: unknown, change: (log: object) => object): unknown {
  if (!isRecord(result) || !Array.isArray(result['logs'])) return result
  return { ...result, logs: result['logs'].map((log: unknown) => (isRecord(log) ? change(log) : log)) }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
