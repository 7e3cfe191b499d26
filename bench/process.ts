import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

export type BenchProcess = { readonly url: string; readonly child: ChildProcess; stop(): Promise<void> }

/** quote-api with the bench's own routes, run by Node as its image runs it. */
export function startQuoteServer(environment: NodeJS.ProcessEnv): Promise<BenchProcess> {
  const script = new URL('./dist/quoteServer.js', import.meta.url).pathname
  return startBenchProcess(script, environment, imageFlags(serviceScripts.quoteApi))
}

/** The oracle with the bench's own routes, run by Node as its image runs it. */
export function startOracleServer(environment: NodeJS.ProcessEnv): Promise<BenchProcess> {
  const script = new URL('./dist/oracleServer.js', import.meta.url).pathname
  return startBenchProcess(script, environment, imageFlags(serviceScripts.oracle))
}

/** Script that the image of a service runs, from the root of the repository. */
export const serviceScripts = { quoteApi: 'apps/quote-api/dist/main.js', oracle: 'apps/oracle/dist/main.js' }

/** Flags that the image's command passes to Node before the script. */
export function imageFlags(script: string): readonly string[] {
  const dockerfile = readFileSync(new URL('../docker/Dockerfile', import.meta.url), 'utf8')
  const command = dockerfile.split('\n').find((line) => line.startsWith('CMD ') && line.includes(script))
  if (command === undefined) throw new Error(`no image runs ${script}`)
  const words: readonly string[] = JSON.parse(command.slice('CMD '.length))
  return words.filter((word) => word.startsWith('--'))
}

/** Starts a built script that prints `listening <url>` once it serves. */
export async function startBenchProcess(
  script: string,
  environment: NodeJS.ProcessEnv,
  nodeFlags: readonly string[] = [],
): Promise<BenchProcess> {
  const child = spawn(process.execPath, [...nodeFlags, script], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer) => {
      text += chunk.toString()
      const found = /^listening (\S+)$/m.exec(text)?.[1]
      if (found === undefined) return
      // Later output is a log, which is discarded.
      child.stdout.off('data', read).resume()
      resolve(found)
    }
    child.stdout.on('data', read)
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code} before it listened`)))
  })
  return {
    url,
    child,
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
