// Goal: who has an id finds what happened, in the logs and in one trace, and neither holds a secret. Method: a whole
// local network that tells its traces to a collector; the demo pays one request from its quote to its withdrawal;
// the searches of docs/operating/logs.md run as they stand there.
import { execFileSync, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type CollectedSpan,
  startTraceCollector,
  type TraceCollector,
} from '../packages/service/test/traceCollector.ts'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))
const line = z
  .object({
    event: z.string(),
    service: z.string(),
    requestId: z.string(),
    orderId: z.string(),
    transactionHash: z.string(),
    apiKeyLabel: z.string(),
    httpRequestId: z.string(),
    traceId: z.string(),
  })
  .partial()
type Line = z.output<typeof line>

let collector: TraceCollector
let bed: SessionBed
let lines: readonly Line[]
let logFiles: readonly string[]

beforeAll(async () => {
  collector = await startTraceCollector()
  bed = await startSessionBed({
    LOG_LEVEL: 'info',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
  })
  await runDemo()
  await collector.until((spans) => find(spans, 'solver', 'broadcast'))
  const folder = join(bed.directory, 'logs')
  const names = (await readdir(folder)).filter((name) => /^(quote-api|oracle-\d|solver)\.log$/.test(name))
  logFiles = names.map((name) => join(folder, name))
  const texts = await Promise.all(logFiles.map((file) => readFile(file, 'utf8')))
  lines = texts.flatMap((text) => text.split('\n')).flatMap(parse)
}, 400_000)
afterAll(async () => {
  await bed?.stop()
  await collector?.stop()
}, 60_000)

async function runDemo(): Promise<void> {
  const child = spawn(process.execPath, ['scripts/demo.ts'], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], CAUSEWAY_LOCAL_DIR: bed.directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  expect(code, output).toBe(0)
}

function parse(text: string): Line[] {
  try {
    return [line.parse(JSON.parse(text))]
  } catch {
    return []
  }
}

const find = (spans: readonly CollectedSpan[], service: string, name: string): CollectedSpan | undefined =>
  spans.find((span) => span.service === service && span.name === name)

function parentOf(span: CollectedSpan | undefined): CollectedSpan | undefined {
  return collector.spans.find(({ spanId }) => spanId === span?.parentSpanId)
}

test('a solver’s item is one trace, from its check to what quote-api did with its report', () => {
  const broadcast = find(collector.spans, 'solver', 'broadcast')
  const ofItem = collector.spans.filter(({ traceId }) => traceId === broadcast?.traceId)
  const server = ofItem.find(({ name }) => name === 'POST /solver/work/:id/report')
  const item = parentOf(broadcast)
  expect([item?.name, item?.parentSpanId]).toEqual(['work item', undefined])
  expect(server?.service).toBe('quote-api')
  expect([parentOf(server)?.name, parentOf(parentOf(server))?.name]).toEqual(['quote-api', 'report'])
  expect(parentOf(find(ofItem, 'solver', 'check'))?.spanId).toBe(item?.spanId)
  for (const name of ['sign', 'chain endpoint', 'database transaction'])
    expect(find(ofItem, 'solver', name), name).toBeDefined()
  expect(ofItem.some(({ service, name }) => service === 'quote-api' && name.startsWith('database'))).toBe(
    true,
  )
})

test('a quote is a trace with its signature and its store', () => {
  const quote = collector.spans.find(({ service, name }) => service === 'quote-api' && name === 'POST /quote')
  const children = collector.spans.filter(({ parentSpanId }) => parentSpanId === quote?.spanId)
  const names = children.map(({ name }) => name)
  expect(names).toContain('sign')
  expect(
    names.some((name) => name.startsWith('database') || name === 'store quote'),
    names.join(),
  ).toBe(true)
})

test('an attestation with peers is one trace through all of them', async () => {
  const peered = await collector.until((spans) =>
    spans.find(({ service, name }) => service === 'oracle' && name === 'peer request'),
  )
  const asked = collector.spans.find(({ parentSpanId }) => parentSpanId === peered.spanId)
  expect(asked?.name).toBe(parentOf(peered)?.name)
  expect(asked?.traceId).toBe(peered.traceId)
})

test('a fill is proven in one trace, from what quote-api reads to what each oracle was asked', async () => {
  const served = await collector.until((spans) =>
    spans.find(
      ({ service, name, parentSpanId }) =>
        service === 'oracle' &&
        name === 'POST /attestations/solver-fills/v1' &&
        find(
          spans.filter(({ spanId }) => spanId === parentSpanId),
          'quote-api',
          'prove fill',
        ) !== undefined,
    ),
  )
  const ofFill = collector.spans.filter(({ traceId }) => traceId === served.traceId)
  expect(ofFill.some(({ service, name }) => service === 'quote-api' && name === 'chain endpoint')).toBe(true)
})

test('the searches of the page find what they say', async () => {
  const page = await readFile(join(repositoryRoot, 'docs/operating/logs.md'), 'utf8')
  const searches = [...page.matchAll(/```sh search\n(.*)\n```/g)].map(([, command = '']) => command)
  const signed = lines.find(({ event }) => event === 'item_signed')
  const keyed = lines.find(({ apiKeyLabel, service }) => apiKeyLabel !== undefined && service === 'quote-api')
  const known: Record<string, string | undefined> = {
    REQUEST_ID: signed?.requestId,
    ORDER_ID: signed?.orderId,
    TRANSACTION_HASH: signed?.transactionHash,
    TRACE_ID: signed?.traceId,
    KEY_LABEL: keyed?.apiKeyLabel,
    HTTP_REQUEST_ID: keyed?.httpRequestId,
  }
  const found = (variable: string): string => {
    const command = searches.find((search) => search.includes(`$${variable}\\"`)) ?? ''
    const environment = { PATH: process.env['PATH'], LOGS: logFiles.join(' '), [variable]: known[variable] }
    return execFileSync('sh', ['-c', command], { env: environment, encoding: 'utf8' })
  }
  expect(searches).toHaveLength(6)
  expect(found('REQUEST_ID')).toContain('"quote-api","request","/quote",200')
  expect(found('REQUEST_ID')).toContain('"solver","item_signed"')
  expect(found('ORDER_ID')).toContain('"/quote",200')
  expect(found('ORDER_ID')).toContain('"item_signed"')
  expect(found('ORDER_ID')).toContain('"oracle"')
  expect(found('TRANSACTION_HASH')).toContain('"/solver/work/:id/report",200')
  expect(found('TRANSACTION_HASH')).toContain('"oracle"')
  expect(found('TRACE_ID')).toContain('"quote-api","request","/solver/work/:id/report"')
  expect(found('TRACE_ID')).toContain('"solver","item_signed"')
  expect(found('KEY_LABEL').split('\n').length).toBeGreaterThan(1)
  expect(found('HTTP_REQUEST_ID')).toContain('"event":"request"')
})

test('no span and no line holds a secret of the network', async () => {
  const folder = join(bed.directory, 'secrets')
  const files = await readdir(folder).catch(() => [])
  const secrets = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  const parts = secrets.flatMap((text) => text.match(/[0-9a-f]{64}/gi) ?? [])
  expect(parts.length).toBeGreaterThan(3)
  const said = [
    ...collector.texts,
    ...(await Promise.all(logFiles.map((file) => readFile(file, 'utf8')))),
  ].join()
  for (const [index, secret] of parts.entries()) expect(said.includes(secret), `secret ${index}`).toBe(false)
})
