// `npm run newcomer`: how long somebody waits who clones what is committed here and types `npm start`. Clones into a new
// folder, starts twice on ports of its own, asks for a price each time, and stops by Ctrl-C as a terminal does. The
// download is told apart: what pnpm has stored on this machine is not fetched again.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'

const root = join(import.meta.dirname, '..')
const patienceMs = 600_000
const environment = {
  ...process.env,
  CAUSEWAY_QUOTE_PORT: '23000',
  CAUSEWAY_ORACLE_PORT: '23100',
  CAUSEWAY_CHAIN_PORT: '28545',
  CAUSEWAY_LOCAL_DIR: '.local',
}

const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`

const networkSchema = z.object({
  quoteApi: z.object({ url: z.string() }),
  chains: z.array(z.object({ id: z.number(), tokens: z.record(z.string(), z.string()) })),
  accounts: z.array(z.object({ address: z.string() })),
})

const folder = await mkdtemp(join(tmpdir(), 'causeway-newcomer-'))
const clone = join(folder, 'causeway')
try {
  const cloned = spawnSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' })
  if (cloned.status !== 0) throw new Error('git could not clone this repository')
  for (const which of ['first', 'second']) {
    const { installed, up, asked, stopped } = await oneStart()
    console.log(
      `${which} start: ${seconds(up - installed)} to addresses and keys, after ${seconds(installed)} of installing; ` +
        `a price ${seconds(asked - up)} later; Ctrl-C ${seconds(stopped - asked)}`,
    )
  }
  const askedAtMs = performance.now()
  const help: string[] = []
  await ended(start(['--', '--help']), help)
  if (!help.join('').includes('CAUSEWAY_CHAIN_PORT')) throw new Error(`no help: ${help.join('')}`)
  console.log(`npm start -- --help: ${seconds(performance.now() - askedAtMs)}`)
  console.log(`${cpus().length} cores, Node ${process.versions.node}, commit ${commit()}`)
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Milliseconds from the command to each thing that its user sees. */
async function oneStart() {
  const startedAtMs = performance.now()
  const since = () => performance.now() - startedAtMs
  const child = start([])
  const seen: string[] = []
  const end = ended(child, seen)
  const line = async (text: string) => {
    while (!seen.join('').includes(text)) {
      if (child.exitCode !== null || since() > patienceMs) throw new Error(`npm start: ${seen.join('')}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return since()
  }
  const installed = await line('Starting a local network')
  const up = await line('Ctrl-C stops everything')
  await askForPrice()
  const asked = since()
  // To the whole group, as a terminal sends it.
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
  await end
  return { installed, up, asked, stopped: since() }
}

function start(words: readonly string[]): ChildProcess {
  return spawn('npm', ['start', '--silent', ...words], {
    cwd: clone,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function ended(child: ChildProcess, seen: string[]): Promise<void> {
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      seen.push(chunk.toString())
    })
  }
  return new Promise((resolve) => child.once('close', () => resolve()))
}

async function askForPrice(): Promise<void> {
  const file = join(clone, '.local', 'network.json')
  if (!existsSync(file)) throw new Error('npm start wrote no network.json')
  const { quoteApi, chains, accounts } = networkSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  const [from, to] = chains
  const user = accounts[0]?.address
  const answer = await fetch(`${quoteApi.url}/price`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      user,
      recipient: user,
      originChainId: from?.id,
      destinationChainId: to?.id,
      originCurrency: from?.tokens['USDC'],
      destinationCurrency: to?.tokens['USDC'],
      amount: '100000000',
      tradeType: 'EXACT_INPUT',
    }),
  })
  if (answer.status !== 200) throw new Error(`no price: ${await answer.text()}`)
}

function commit(): string {
  const asked = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: clone, encoding: 'utf8' })
  return asked.stdout.trim()
}
