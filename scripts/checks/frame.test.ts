// Goal: no service has a frame of its own, and no doctor asks other parts than the start opens. Attackers: a service that
// is written like its neighbour and drifts from it. Method: the sources of the four.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const services = {
  allocator: { compose: 'createAllocator', examine: 'examine', both: ['readFiles', 'openHub', 'readConfig'] },
  oracle: { compose: 'createOracle', examine: 'examine', both: ['readFiles', 'parsePeers', 'readConfig'] },
  'quote-api': { compose: 'createQuoteApi', examine: 'examine', both: ['planMarket', 'chainChecks'] },
  solver: { compose: 'createSolver', examine: 'examine', both: ['readFiles', 'connectChains', 'readConfig'] },
} as const

const sourcesOf = (app: string) =>
  readdirSync(join(root, 'apps', app, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => ({ name, text: readFileSync(join(root, 'apps', app, 'src', name), 'utf8') }))

/** While its database starts, quote-api answers by itself what a service answers. */
const waiting = 'operate/databaseWait.ts'
const frame =
  /\b(?:installShutdown|createLifetime|createServiceMetrics|createReadiness|createOpsListener|openTracing)\(/

test.each(Object.entries(services))(
  'O-130: %s stands in the common frame and makes none of its own',
  (app, { compose }) => {
    const sources = sourcesOf(app)
    const textOf = (name: string) => sources.find((one) => one.name === name)?.text ?? ''
    expect(textOf('main.ts')).toContain('runService(')
    expect(textOf(`compose/${compose}.ts`)).toContain('composeService(')
    const own = sources.filter(({ name, text }) => name !== waiting && frame.test(text))
    expect(own.map(({ name }) => name)).toEqual([])
  },
)

test.each(Object.entries(services))(
  'O-130: the doctor of %s opens and judges by the functions of its start',
  (app, { both }) => {
    const sources = sourcesOf(app)
    for (const name of both) {
      const definitions = sources.filter(({ text }) => new RegExp(`function ${name}\\b`).test(text))
      const uses = sources.flatMap(({ text }) => [
        ...text.matchAll(new RegExp(`(?<!function )\\b${name}\\(`, 'g')),
      ])
      expect(definitions.length, name).toBeLessThanOrEqual(1)
      expect(uses.length, name).toBeGreaterThanOrEqual(2)
    }
  },
)
