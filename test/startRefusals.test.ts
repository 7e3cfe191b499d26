// Goal: who starts a service by hand reads sentences, and what starts it by itself reads JSON. Method: each of the four
// services as a process with a port that is none, on a terminal and without one.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundledScript } from '@causeway/localnet'
import { describe, expect, test } from 'vitest'

const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))
/** As far as a process can see: its streams say that somebody reads them. */
const onTerminal = `--import=data:text/javascript,${encodeURIComponent(
  'process.stdout.isTTY = true; process.stderr.isTTY = true',
)}`
/** As a library does, once it has something to say. */
const warning = `--import=data:text/javascript,${encodeURIComponent(
  "process.once('beforeExit', () => process.emitWarning('of a library'))",
)}`

type Outcome = { readonly code: number | null; readonly out: string; readonly err: string }

function run(
  service: string,
  words: readonly string[],
  isTerminal: boolean,
  more: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const options = {
    cwd: repositoryRoot,
    env: {
      PATH: process.env['PATH'],
      ENVIRONMENT: 'local',
      OPS_PORT: 'abc',
      ...(isTerminal && { NODE_OPTIONS: onTerminal }),
      ...more,
    },
  }
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [bundledScript(`apps/${service}/src/main.ts`), ...words],
      options,
      (_error, out, err) => resolve({ code: child.exitCode, out, err }),
    )
  })
}

const seen = 'is "abc" and must be a whole number from 0 to 65535'

function expectText(service: string, text: string): void {
  expect(text).toMatch(new RegExp(`^${service} does not start: [1-9]`))
  expect(text).toContain(`stops    OPS_PORT (setting-wrong)\n  seen: ${seen}\n  fix:  `)
}

function expectJson(service: string, text: string): void {
  expect(text.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(text)).toMatchObject({
    service,
    startable: false,
    findings: expect.arrayContaining([expect.objectContaining({ setting: 'OPS_PORT', seen })]),
  })
}

describe.each(['quote-api', 'oracle', 'solver', 'allocator'])('%s', (service) => {
  test('O-4: a refused start is text on a terminal and JSON elsewhere, on standard error', async () => {
    const [read, piped] = [await run(service, [], true), await run(service, [], false)]
    expect([read.code, read.out, piped.code, piped.out]).toEqual([1, '', 1, ''])
    expectText(service, read.err)
    expectJson(service, piped.err)
  })

  test('O-4: its doctor does the same on standard output, and JSON on request', async () => {
    const read = await run(service, ['doctor'], true)
    const asked = await run(service, ['doctor', '--json'], true)
    const piped = await run(service, ['doctor'], false)
    expect([read, asked, piped].map(({ code, err }) => [code, err])).toEqual(Array(3).fill([1, '']))
    expectText(service, read.out)
    expectJson(service, asked.out)
    expectJson(service, piped.out)
  })

  test('O-92: no warning of a library stands before what its doctor says', async () => {
    const { code, err, out } = await run(service, ['doctor'], true, {
      NODE_OPTIONS: `${onTerminal} ${warning}`,
      SIGNING_MODULE: 'aws-kms',
      AWS_KMS_SIGNER_KEY_ID: 'none',
      AWS_KMS_SIGNER_KEY_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL_KMS: 'http://127.0.0.1:9',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
    })
    expect([code, err]).toEqual([1, ''])
    expectText(service, out)
    expect(out).toContain('(key-wrong)')
  })
})
