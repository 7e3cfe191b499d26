import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type BenchProcess = { readonly url: string; readonly child: ChildProcess; stop(): Promise<void> }

/** Starts a built script that prints `listening <url>` once it serves. */
export async function startBenchProcess(
  script: string,
  environment: NodeJS.ProcessEnv,
): Promise<BenchProcess> {
  const child = spawn(process.execPath, [script], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const found = /^listening (\S+)$/m.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
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
