// Goal: the guide works as it is written, a second time too, and leaves the reader's shell as it was. Method: its
// commands, in order, in one shell, against the real service over a real network whose ports are not the usual ones.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot, serviceEnvironment } from './fixtures/service.ts'
import { type ServiceProcess, spawnService } from './serviceSupport/serviceProcess.ts'

let network: TestNetwork
let directory: string
let service: ServiceProcess
let environment: Record<string, string>
beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-guide-'))
  environment = await serviceEnvironment(network, directory, {
    LOG_LEVEL: 'info',
    CUSTODY_ADDRESS: network.keys.custody.address,
  })
  service = spawnService(environment)
  const { publicUrl } = await service.listening()
  const { base, optimism } = network.deployment
  const chains = [{ ...base, rpcUrl: network.chains.base.url }, optimism]
  const file = { quoteApi: { url: publicUrl }, accounts: network.keys.users, chains }
  await writeFile(join(directory, 'network.json'), JSON.stringify(file))
})
afterAll(async () => {
  await service?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** Blocks of the guide that a reader pastes. */
async function commandsOf(guide: string): Promise<readonly string[]> {
  const text = await readFile(join(repositoryRoot, guide), 'utf8')
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] ?? '')
}

function run(script: string): Promise<{ code: number | null; output: string }> {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  return new Promise((resolve) => shell.once('close', (code) => resolve({ code, output })))
}

/** Variables that a shell has before a guide is pasted. */
const ownVariables = 'USER HOME PATH PWD SHELL TERM LOGNAME'.split(' ')

test('every command of the guide to sponsoring does what the guide says', { timeout: 600_000 }, async () => {
  const blocks = await commandsOf('docs/guides/sponsor-fees.md')
  expect(blocks.length).toBeGreaterThan(8)
  const { code, output } = await run(blocks.join('\n'))
  expect(code, output).toBe(0)
  expect(output).toMatch(/my shop +active/)
  expect(output).toContain(network.keys.users[0]?.address)
  expect(output).toContain('available: 25.0 USDC')
  expect(output).toContain('sponsored: full')
  expect(output).toMatch(/sponsor pays: 0\.0[0-9]+ USD/)
  expect(output).toMatch(/MAX_PER_REQUEST +NO/)
  // Nobody paid the quote of this guide.
  expect(output).toContain('{"requests":[]')
  expect(output).toContain('"context":"set-pending-amount"')
  expect(output).toContain('The books add up.')
  expect(output).toContain('25000000 of 25000000 micro-USDC explained')

  const set = ownVariables.map((name) => `export ${name}="\${${name}-was-not-set}"`)
  const told = `printf '%s\\n' ${ownVariables.map((name) => `"$${name}"`).join(' ')}`
  const again = await run(
    [...set, `${told} > before`, ...blocks, `${told} | diff before -; rm before`].join('\n'),
  )
  expect(again.code, again.output).toBe(0)
  expect(again.output).toContain('50000000 of 50000000 micro-USDC explained')
})

test('a top-up that is not credited ends the guide with what to look at', { timeout: 120_000 }, async () => {
  const blocks = await commandsOf('docs/guides/sponsor-fees.md')
  const waiting = blocks.find((block) => block.includes('is_credited()')) ?? ''
  const never = [
    'available_before=5',
    'available() { echo 5; }',
    'sleep() { :; }',
    'seq() { echo 1 2; }',
    waiting,
  ]
  const { code, output } = await run(never.join('\n'))
  expect(code).not.toBe(0)
  expect(output).toContain('not credited after a minute')
})
