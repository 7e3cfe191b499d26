// Goal: who reads the description can call the service. Adversaries: a route without a name or an example, an
// example that its own route refuses, a client generated from it that does not compile or run.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { HttpApp } from '@causeway/http'
import { contradictedExample, describedOperations, lintDescription } from '@causeway/localnet'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { mainOperations } from '../src/http/operationExamples.ts'
import { testApp } from './fixtures/app.ts'
import { chainA, chainB, marketWithPools, native } from './fixtures/market.ts'

const root = join(import.meta.dirname, '../../..')
let app: HttpApp
let description: string

beforeAll(async () => {
  app = await testApp({ market: { current: marketWithPools() } })
  description = (await app.inject({ url: '/documentation/json' })).body
})
afterAll(() => app?.close())

test('redocly finds no error and nothing to warn of', async () => {
  expect(await lintDescription(description)).toEqual([])
}, 180_000)

test('it is small enough to be read, with the steps of six families', () => {
  // 100,000 of them because the main operations stand whole: the tools of agents follow no reference.
  expect(Buffer.byteLength(description)).toBeLessThan(285_000)
})

test('every body and answer that does not stand whole is a component with a name', () => {
  for (const { operationId, requestBody, responses } of describedOperations(description)) {
    const answers = Object.entries(responses).filter(
      ([status]) => !mainOperations.has(operationId) || status !== '200',
    )
    const contents = [
      ...(mainOperations.has(operationId) ? [] : [requestBody?.content]),
      ...answers.map(([, { content }]) => content),
    ]
    for (const media of contents.flatMap((content) => Object.values(content ?? {}))) {
      expect(media.schema?.$ref, operationId).toMatch(/^#\/components\/schemas\/[A-Z]\w+$/)
    }
  }
})

test('the key is asked for where it is needed, and only there', () => {
  const needing = describedOperations(description).filter(({ security }) =>
    security?.every((scheme) => 'apiKey' in scheme || 'bearerKey' in scheme),
  )
  expect(needing.filter(({ security }) => security?.length).map(({ operationId }) => operationId)).toEqual([
    'getDepositAddress',
    'listBalanceEvents',
    'getStatement',
    'listUsage',
    'submitCalls',
    'challengeWallet',
    'linkWallet',
    'listWork',
    'reportWork',
    'failWork',
    'waitWork',
  ])
})

test('Q-6: POST /price declares no security scheme, and that a wrong key is 401', async () => {
  const price = describedOperations(description).find(({ operationId }) => operationId === 'price')
  expect(price?.security).toEqual([])
  expect(price?.codes['401']).toEqual(['UNAUTHORIZED'])
  const headers = { 'x-api-key': 'nobody-has-this-key' }
  const { statusCode } = await app.inject({ method: 'POST', url: '/price', payload: {}, headers })
  expect(statusCode).toBe(401)
})

test('the example of every operation is understood by its route, and answered as described', async () => {
  const operations = describedOperations(description)
  expect(operations.length).toBeGreaterThan(30)
  for (const operation of operations)
    expect(await contradictedExample(operation, app), operation.operationId).toEqual([])
})

test('a client that is generated from it compiles, and gets answers', async () => {
  // Inside the repository, so that its imports are found.
  const folder = join(root, 'node_modules/.cache', `described-client-${process.pid}`)
  await mkdir(folder, { recursive: true })
  try {
    await writeFile(join(folder, 'schema.ts'), astToString(await openapiTS(description)))
    await writeFile(join(folder, 'client.ts'), client)
    expect(compile(join(folder, 'client.ts'), folder)).toEqual([])
    await writeFile(join(folder, 'wrong.ts'), client.replace('EXACT_INPUT', 'EXACT'))
    expect(compile(join(folder, 'wrong.ts'), folder)).not.toEqual([])
    const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
    const module: unknown = await import(pathToFileURL(join(folder, 'client.js')).href)
    const { run } = z.object({ run: z.function({ input: [z.string()], output: z.unknown() }) }).parse(module)
    expect(await run(baseUrl)).toEqual({ price: expect.any(Number), refused: 'UNSUPPORTED_CHAIN', steps: 1 })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 180_000)

const client = `
import createClient from 'openapi-fetch'
import type { paths } from './schema.js'

export async function run(baseUrl: string) {
  const client = createClient<paths>({ baseUrl })
  const query = { address: '${native}', chainId: ${chainA} }
  const priced = await client.GET('/currencies/token/price', { params: { query } })
  const refused = await client.GET('/chains/liquidity', { params: { query: { chainId: 999999 } } })
  const user = '0x95dbe89c9cdaaf16e2ba8eb9422fc3e65af384f7'
  const quoted = await client.POST('/quote/v2', {
    body: {
      user,
      originChainId: ${chainA},
      destinationChainId: ${chainB},
      originCurrency: '${native}',
      destinationCurrency: '${native}',
      amount: '100000000000000000',
      tradeType: 'EXACT_INPUT',
    },
  })
  const price: number | undefined = priced.data?.price
  const errorCode: string | undefined = refused.error?.errorCode
  return { price, refused: errorCode, steps: quoted.data?.steps.length }
}
`

/** Problems of one file; where there are none its translation is written beside it. */
function compile(file: string, outDir: string): readonly string[] {
  const program = ts.createProgram([file], {
    strict: true,
    skipLibCheck: true,
    noEmitOnError: true,
    types: [],
    outDir,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    exactOptionalPropertyTypes: true,
  })
  const { diagnostics } = program.emit()
  const all = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
  return all.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
