// Goal: an operator reads in one pass what a solver lacks. Attacks: a key that quote-api does not take, a quote-api that is
// silent or something else, a database that is not there, a run that signs nothing, secrets in every URL.
import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { examineSolver } from './examine.ts'

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))
const canary = 'canary-5d41402a'
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function quoteApiThatAnswers(status: number): Promise<string> {
  const server = createServer((_request, response) => {
    response.statusCode = status
    response.end('{}')
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/${canary}`
}

async function examine(changed: Readonly<Record<string, string>>) {
  const variables = {
    ENVIRONMENT: 'testnets.prod',
    ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
    DATABASE_URL: `postgres://solver:${canary}@127.0.0.1:9/solver`,
    QUOTE_API_URL: `http://127.0.0.1:9/${canary}`,
    SOLVER_API_KEY: `${canary}-key`,
    ORDER_SIGNERS: `0x${'5e'.repeat(20)}`,
    BASE_SEPOLIA_RPC_URL: `http://127.0.0.1:9/${canary}`,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    ...changed,
  }
  const found = await examineSolver(variables, { repositoryRoot, nowMs: () => Date.now(), scope: 'all' })
  expect(JSON.stringify(found)).not.toMatch(/canary|(5a){8}/)
  return found.map(({ code, severity, setting }) => `${severity} ${setting} ${code}`)
}

test('what its settings name is looked at: a database that is not there stops it, silence degrades it', async () => {
  expect((await examine({})).sort()).toEqual([
    'degrades QUOTE_API_URL service-silent',
    'degrades SEPOLIA_RPC_URL chain-without-endpoint',
    'degrades httpRpcUrl of base-sepolia endpoint-silent',
    'degrades httpRpcUrl of base-sepolia endpoints-too-few',
    'note ECDSA_PRIVATE_KEY key-read',
    'stops DATABASE_URL database-unreachable',
  ])
})

test.each([
  [401, 'degrades SOLVER_API_KEY service-silent'],
  [404, 'degrades QUOTE_API_URL service-silent'],
])('a quote-api that answers %i is named by the setting to mend', async (status, finding) => {
  expect(await examine({ QUOTE_API_URL: await quoteApiThatAnswers(status) })).toContain(finding)
})

test('one that takes the key is no finding, a run without signatures is', async () => {
  const found = await examine({ QUOTE_API_URL: await quoteApiThatAnswers(200), DRY_RUN: 'on' })
  expect(found.filter((one) => one.endsWith('service-silent'))).toEqual([])
  expect(found).toContain('degrades DRY_RUN setting-without-effect')
})

test('everything that is missing is found at once', async () => {
  const names = ['DATABASE_URL', 'QUOTE_API_URL', 'SOLVER_API_KEY', 'ORDER_SIGNERS']
  const found = await examine({
    ...Object.fromEntries(names.map((name) => [name, ''])),
    ...{ ECDSA_PRIVATE_KEY: '', BASE_SEPOLIA_RPC_URL: '' },
  })
  const stops = found.filter((one) => one.startsWith('stops')).map((one) => one.split(' ')[1])
  expect(stops).toEqual(expect.arrayContaining([...names, 'ECDSA_PRIVATE_KEY', 'solver:']))
  // One chain without an endpoint is left out; a solver without any pays nobody.
  expect(found).toContain('degrades BASE_SEPOLIA_RPC_URL chain-without-endpoint')
})
