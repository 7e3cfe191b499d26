import type { AgreementReport, Electorate } from '@causeway/chains'
import { countVoices } from '@causeway/chains'
import { Counter, Gauge, type HttpMetrics } from '@causeway/http'
import type { AgreedKind, MarketLog } from '@causeway/market'

/** Counts how many endpoint hosts agree on each kind of value, and which endpoint says something else. */
export function createAgreementMetrics({
  registry,
}: Pick<HttpMetrics, 'registry'>): (chain: string, on: AgreedKind, report: AgreementReport) => void {
  const registers = [registry]
  const agreed = new Gauge({
    name: 'market_endpoints_agreed',
    help: 'Endpoint hosts that said the same when this was read last',
    labelNames: ['chain', 'on'],
    registers,
  })
  const required = new Gauge({
    name: 'market_endpoints_required',
    help: 'Endpoint hosts that must say the same',
    labelNames: ['chain'],
    registers,
  })
  const dissents = new Counter({
    name: 'market_endpoint_dissents_total',
    help: 'Times that an endpoint said something else than what was agreed of the same block',
    labelNames: ['chain', 'on', 'endpoint'],
    registers,
  })
  return (chain, on, report) => {
    agreed.set({ chain, on }, report.agreed)
    required.set({ chain }, report.required)
    for (const endpoint of report.dissenting) dissents.inc({ chain, on, endpoint })
  }
}

/** Says at start what the endpoints of a chain cannot give. @source design.md 7.4 */
export function warnOfFewVoices(chain: string, { voters, threshold }: Electorate, log: MarketLog): void {
  const hosts = countVoices(voters)
  const figures = { chain, hosts, required: threshold }
  if (hosts === 1) {
    log.warn(figures, 'one endpoint host: nothing that is read of this chain is agreed, it may say anything')
  } else if (threshold === hosts) {
    log.warn(figures, 'every endpoint host must answer: this chain is not priced while one of them is silent')
  } else if (2 * threshold <= hosts) {
    log.warn(figures, 'a minority of the endpoint hosts is enough to be believed: raise rpcThreshold')
  }
}
