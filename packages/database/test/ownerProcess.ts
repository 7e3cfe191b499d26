// Owns an embedded server until it is killed; started by embeddedPostgres.test.ts.
import { startEmbeddedPostgres } from '../src/index.ts'

const { pid, port } = await startEmbeddedPostgres(JSON.parse(process.argv[2] ?? ''))
console.log(JSON.stringify({ pid, port }))
setInterval(() => {}, 60_000)
