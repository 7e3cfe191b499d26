import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freeLoopbackPort } from '@causeway/localnet'

export type Bitcoind = {
  /** With its credentials, as `httpRpcUrl` has them. */
  readonly url: string
  /** @throws Error with the node's own words */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  mine(count: number, address: string): Promise<void>
  stop(): Promise<void>
}

const startTimeoutMs = 60_000
const versionMin = 250_000

/**
 * A real node on regtest, in a folder of its own. `BITCOIND` names the program; default `bitcoind`.
 * @param options.relaysAsUsual its own rules for what it takes before a block; default: whatever consensus allows
 */
export async function startBitcoind(options: { readonly relaysAsUsual?: boolean } = {}): Promise<Bitcoind> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bitcoind-'))
  const port = await freeLoopbackPort()
  const credentials = 'causeway:regtest'
  const [user, password] = credentials.split(':')
  const child = spawn(
    process.env['BITCOIND'] ?? 'bitcoind',
    [
      ...['-regtest', `-datadir=${directory}`, '-txindex=1', '-listen=0', '-server=1', '-disablewallet'],
      // Policy of nodes differs: where it is not tested itself, consensus and the shape of answers are.
      ...(options.relaysAsUsual === true
        ? ['-acceptnonstdtxn=0']
        : ['-datacarrier=1', '-datacarriersize=83', '-acceptnonstdtxn=1', '-minrelaytxfee=0']),
      ...[`-rpcuser=${user}`, `-rpcpassword=${password}`, `-rpcport=${port}`],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-4_000)
    })
  }
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`bitcoind ended with ${code}: ${output}`)))
  })
  const call = async (method: string, ...params: readonly unknown[]): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = Object(await response.json())
    if (error !== undefined && error !== null) throw new Error(`${method}: ${Object(error).message}`)
    return result
  }
  await Promise.race([untilReady(call), failed])
  const { version } = Object(await call('getnetworkinfo'))
  if (!(version >= versionMin)) throw new Error(`bitcoind ${version} is older than ${versionMin}`)
  return {
    url: `http://${credentials}@127.0.0.1:${port}`,
    call,
    async mine(count, address) {
      await call('generatetoaddress', count, address)
    },
    async stop() {
      // A stop is no failure.
      failed.catch(() => undefined)
      await ended(child)
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function untilReady(call: (method: string) => Promise<unknown>): Promise<void> {
  const deadlineMs = Date.now() + startTimeoutMs
  for (;;) {
    try {
      await call('getblockchaininfo')
      return
    } catch (error) {
      if (Date.now() > deadlineMs) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}
