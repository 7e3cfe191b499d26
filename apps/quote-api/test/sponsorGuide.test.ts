// Goal: the guide works as it is written. Method: its commands, in order, in one shell, against the real
// service over a real network.
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
  Object.assign(environment, { QUOTE_API: publicUrl, RPC_URL: network.chains.base.url })
  const { base, optimism } = network.deployment
  const accounts = network.keys.users
  await writeFile(join(directory, 'network.json'), JSON.stringify({ accounts, chains: [base, optimism] }))
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

test('every command of the guide to sponsoring does what the guide says', { timeout: 300_000 }, async () => {
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
  expect(output).toContain('"requests":[{')
  expect(output).toContain('The books add up.')
  expect(output).toContain('25000000 of 25000000 micro-USDC explained')
})
