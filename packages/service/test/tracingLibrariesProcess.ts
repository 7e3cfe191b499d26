// Run by tracing.test.ts: a process that opens tracing, or leaves it off, and says which of its libraries it loaded.
import { createRequire } from 'node:module'
import { Secret } from '@causeway/core'
import { createHttpMetrics } from '@causeway/http'
import { openTracing } from '@causeway/service'
import { pino } from 'pino'

const { registry } = createHttpMetrics({ service: 'test' })
const settings =
  process.argv[2] === 'on'
    ? { url: new Secret('http://127.0.0.1:9'), headers: undefined, ratio: 1 }
    : undefined
await openTracing(settings, { service: 'test', registry, log: pino({ level: 'silent' }) })
const files = Object.keys(createRequire(import.meta.url).cache)
const names = files.flatMap((file) => /node_modules\/(@opentelemetry\/[\w-]+)\//.exec(file)?.[1] ?? [])
console.log(JSON.stringify([...new Set(names)].sort()))
process.exit(0)
