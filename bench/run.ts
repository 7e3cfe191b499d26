// `npm run bench`: the table of docs/internals/performance.md. Figures are ratios inside one run; a row
// that misses its goal is reported, never an error, and so is one that moved against the baseline.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { oneCommand, takeCommandLine } from '@causeway/cli'
import { benchAhead } from './aheadBench.ts'
import { attackIds, benchAttacks } from './attacksBench.ts'
import { keepBaseline, movedLine, readBaseline } from './baseline.ts'
import { benchCalls } from './callsBench.ts'
import { benchDepositLatency } from './depositLatencyBench.ts'
import { benchEndpoints } from './endpointsBench.ts'
import { benchFamilyQuotes, familyQuoteIds } from './familyQuoteBench.ts'
import { benchFamilyRounds } from './familyRoundsBench.ts'
import { benchFillLatency } from './fillLatencyBench.ts'
import { fixedWorkUs } from './fixedWork.ts'
import { grownEnvironment } from './growth/grownConfig.ts'
import { benchGrown, growthIds } from './growth/growthBench.ts'
import { benchSponsorTurns } from './growth/sponsorTurns.ts'
import { benchHistory } from './historyBench.ts'
import { benchIdle } from './idleBench.ts'
import { benchLatency } from './latency/latencyBench.ts'
import { benchLedger } from './ledgerBench.ts'
import { benchLibraries } from './librariesBench.ts'
import { benchMemory } from './memoryBench.ts'
import { benchOracle } from './oracleBench.ts'
import { benchFanout } from './oracleFanoutBench.ts'
import { benchOracleReader } from './oracleReaderBench.ts'
import { benchStart } from './oracleStartBench.ts'
import { benchPage } from './pageBench.ts'
import { benchPoolQuote } from './poolQuote.ts'
import { benchGrowth, benchQuotes } from './quoteBench.ts'
import { benchQuoteStart } from './quoteStartBench.ts'
import { benchRequestCosts } from './requestCostBench.ts'
import { type BenchRow, isMet } from './row.ts'
import { benchSignatures } from './signatureBench.ts'
import { benchSponsored, benchSponsoredGrowth } from './sponsoredBench.ts'
import { benchStatus } from './statusBench.ts'
import { benchTraces } from './tracesBench.ts'
import { benchUnpaidQuotes } from './unpaidQuotesBench.ts'

const suites: readonly {
  readonly ids: readonly string[]
  run(wanted: ReadonlySet<string>): Promise<readonly BenchRow[]>
}[] = [
  { ids: ['P4'], run: async () => [await benchPoolQuote()] },
  { ids: ['P5', 'P6'], run: benchSignatures },
  { ids: ['cost'], run: benchRequestCosts },
  { ids: ['P9'], run: benchLedger },
  { ids: ['P1', 'P2', 'P2s', 'P19'], run: benchQuotes },
  { ids: ['P1-endpoints', 'P2-endpoints'], run: benchEndpoints },
  { ids: familyQuoteIds, run: benchFamilyQuotes },
  { ids: ['P7', 'P8-cold'], run: benchOracleReader },
  { ids: ['P7', 'P7-rounds'], run: benchFamilyRounds },
  { ids: ['P8', 'P11', 'P12', 'P11-cpu', 'P12-cpu', 'P11-p50', 'P11-p99'], run: benchOracle },
  { ids: ['P16', 'P16-ms'], run: benchAhead },
  { ids: ['P13'], run: async () => [await benchFanout()] },
  { ids: ['P14'], run: benchStart },
  { ids: ['P14', 'P14-quotes'], run: benchQuoteStart },
  { ids: ['libraries'], run: benchLibraries },
  { ids: ['P10'], run: benchMemory },
  { ids: ['P3'], run: benchSponsored },
  { ids: ['P15'], run: benchStatus },
  { ids: ['latency', 'P17'], run: benchLatency },
  { ids: ['P18'], run: benchDepositLatency },
  { ids: ['P21'], run: benchFillLatency },
  { ids: ['P20', 'P20-rows'], run: benchUnpaidQuotes },
  { ids: ['P23-line', 'P23-unsampled', 'P23-sampled', 'P23-all'], run: benchTraces },
  { ids: ['P24', 'P24-open'], run: benchPage },
  { ids: ['P25', 'attacks', ...attackIds], run: benchAttacks },
  { ids: ['P26', 'calls'], run: benchCalls },
  { ids: ['P28'], run: benchHistory },
  { ids: ['idle'], run: benchIdle },
  { ids: ['P3-growth'], run: benchSponsoredGrowth },
  { ids: ['P1-growth'], run: async () => [await benchGrowth(grownTo70)] },
  { ids: ['growth-turns'], run: async () => [await benchSponsorTurns()] },
  { ids: growthIds, run: benchGrown },
]

/** Seventy chains, and ten times the currencies of one. */
function grownTo70(_network: unknown, directory: string): Promise<Record<string, string>> {
  return grownEnvironment(directory, { chains: 70, currenciesPerChain: 50 })
}

const about = 'Measures what the page of performance has goals for.'
const program = oneCommand('npm run bench --', about, {
  operands: ['[row...]'],
  flags: { keep: { about: 'Compare later runs with this one: bench/baseline.json' } },
  notes: `Rows, by default all: ${suites.flatMap(({ ids }) => ids).join(', ')}`,
})
const { args } = takeCommandLine(process.argv.slice(2), program)
console.log('building …')
execFileSync(process.execPath, ['scripts/bundle.mjs', 'bench/quoteServer.mjs', 'bench/oracleServer.mjs'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
})

const keeps = args.isOn('keep')
const wanted = new Set(args.list('row'))
const rows: BenchRow[] = []
for (const { ids, run } of suites) {
  if (wanted.size > 0 && !ids.some((id) => wanted.has(id))) continue
  console.log(`measuring ${ids.join(', ')} …`)
  rows.push(...(await run(wanted)))
}

const report = {
  machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  node: process.version,
  fixedWorkUs: Math.round(fixedWorkUs()),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim(),
  rows: rows.map((row) => ({ ...row, met: isMet(row) })),
}
const baseline = readBaseline()
const folder = new URL('./results/', import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL('latest.json', folder), `${JSON.stringify(report, null, 2)}\n`)

console.log(
  `\n${report.machine}, Node ${report.node}, commit ${report.commit}, fixed work ${report.fixedWorkUs} µs\n`,
)
for (const row of report.rows) {
  console.log(`${row.id}  ${row.met ? 'met' : 'MISSED'}  ratio ${row.ratio.toFixed(3)}, goal ${row.limit}`)
  console.log(`    ${row.name}\n    ${row.value}`)
  const moved = movedLine(baseline, row)
  if (moved !== undefined) console.log(`    ${moved}`)
}
if (keeps) keepBaseline(report.rows, report)
console.log(`\nwritten to bench/results/latest.json${keeps ? ' and bench/baseline.json' : ''}`)
