import { Counter, Gauge, type HttpMetrics } from '@causeway/http'
import type { QuorumEndpointHealth } from '@causeway/rpc'
import type { SigningCaps } from '@causeway/signer'

/** Metrics of the allocator beside HTTP. Labels come from closed sets. */
export type AllocatorMetrics = {
  countSigned(chain: string): void
  countRefused(): void
  countRoundFailed(): void
  /** Registers the gauges, each of which reads its value when it is scraped. */
  watch(read: {
    readonly pending: () => number
    readonly readUpTo: () => bigint | undefined
    readonly isStopped: () => boolean
    readonly gasBalanceWei: () => bigint | undefined
    readonly caps: SigningCaps['usage']
    readonly stoppedChains: () => readonly string[]
    readonly endpoints: () => readonly QuorumEndpointHealth[]
  }): void
}

export function createAllocatorMetrics(
  registry: HttpMetrics['registry'],
  info: { readonly signer: string; readonly chains: readonly string[] },
): AllocatorMetrics {
  const registers = [registry]
  new Gauge({
    name: 'allocator_signer_info',
    help: 'Address that this allocator signs with; always 1',
    labelNames: ['signer'] as const,
    registers,
  }).set({ signer: info.signer }, 1)
  const signed = new Counter({
    name: 'allocator_payloads_signed_total',
    help: 'Payloads that were signed, by the chain that pays them',
    labelNames: ['chain'] as const,
    registers,
  })
  for (const chain of info.chains) signed.inc({ chain }, 0)
  const refused = new Counter({
    name: 'allocator_payloads_refused_total',
    help: 'Payloads that are signed by no round of this run; the log says why',
    registers,
  })
  const failed = new Counter({
    name: 'allocator_rounds_failed_total',
    help: 'Rounds that ended with an error; the next one goes on',
    registers,
  })
  return {
    countSigned: (chain) => signed.inc({ chain }),
    countRefused: () => refused.inc(),
    countRoundFailed: () => failed.inc(),
    watch: (read) => watchState(registry, info.chains, read),
  }
}

function watchState(
  registry: HttpMetrics['registry'],
  chains: readonly string[],
  read: Parameters<AllocatorMetrics['watch']>[0],
): void {
  const registers = [registry]
  const { pending, readUpTo, isStopped, gasBalanceWei, caps, stoppedChains, endpoints } = read
  const gauge = (name: string, help: string, readValue: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = readValue()
        if (value !== undefined) this.set(value)
      },
    })
  const numberOf = (value: bigint | undefined) => (value === undefined ? undefined : Number(value))
  gauge('allocator_payloads_pending', 'Payloads that wait for a signature or for its block', pending)
  gauge('allocator_final_block', 'Last final block that was read', () => numberOf(readUpTo()))
  const readStopped = () => (isStopped() ? 1 : 0)
  gauge('allocator_stopped', '1 while nothing is signed: by the operator, or a changed block', readStopped)
  gauge('allocator_gas_balance_wei', "What the key's account has left for storing signatures", () =>
    numberOf(gasBalanceWei()),
  )
  new Gauge({
    name: 'allocator_chain_stopped',
    help: '1 while nothing is signed for a chain: an operator stopped it at quote-api, or quote-api is silent',
    labelNames: ['chain'] as const,
    registers,
    collect() {
      const stopped = new Set(stoppedChains())
      for (const chain of chains) this.set({ chain }, stopped.has(chain) ? 1 : 0)
    },
  })
  const labelNames = ['chain', 'currency'] as const
  new Gauge({
    name: 'allocator_cap_used_ratio',
    help: 'Part of its cap that was signed of a currency within the hour',
    labelNames,
    registers,
    collect() {
      for (const { chain, currency, signed: used, amount } of caps()) {
        // A cap of 0 is always full.
        const ratio = amount === 0n ? 1 : Number((used * 10_000n) / amount) / 10_000
        this.set({ chain, currency }, ratio)
      }
    },
  })
  new Gauge({
    name: 'allocator_endpoint_asked',
    help: '1 while an endpoint of the hub is asked, 0 while it pauses; by alias',
    labelNames: ['endpoint'] as const,
    registers,
    collect() {
      for (const { alias, isAsked } of endpoints()) this.set({ endpoint: alias }, isAsked ? 1 : 0)
    },
  })
}
