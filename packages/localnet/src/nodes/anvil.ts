import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'

export type AnvilOptions = {
  readonly chainId: number
  /** Default: a free port. */
  readonly port?: number
  /** Extra command line, e.g. `['--block-time', '2', '--mixed-mining']`. */
  readonly args?: readonly string[]
}

export type Anvil = {
  readonly chainId: number
  readonly url: string
  readonly port: number
  readonly pid: number
  /** SIGTERM, so that a `--state` file is written; resolves when the process is gone. */
  stop(): Promise<void>
  readonly process: ChildProcess
}

const startTimeoutMs = 15_000

/** The node binary itself, so that signals reach it and not a wrapper. */
function anvilBinary(): string {
  const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  return join(dirname(createRequire(wrapper).resolve(`${name}/package.json`)), 'bin', 'anvil')
}

/** A port that was free a moment ago on the loopback interface. */
export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no port')),
      )
    })
  })
}

/** Starts one node on loopback and waits for its first answer. @throws Error with the node's last output */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const child = spawn(
    anvilBinary(),
    [
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--chain-id',
      String(options.chainId),
      '--silent',
      ...(options.args ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4_000)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let gone = false
  void exited.then(() => {
    gone = true
  })

  const deadline = Date.now() + startTimeoutMs
  while (!(await answers(url, options.chainId))) {
    if (gone || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`anvil for chain ${options.chainId} did not start: ${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  const { pid } = child
  if (pid === undefined) throw new Error('anvil has no process id')
  return {
    chainId: options.chainId,
    url,
    port,
    pid,
    process: child,
    async stop() {
      if (gone) return
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await exited
      clearTimeout(force)
    },
  }
}

async function answers(url: string, chainId: number): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
    })
    const body: unknown = await response.json()
    return (body as { result?: string }).result === `0x${chainId.toString(16)}`
  } catch {
    return false
  }
}
