// A service for tests of the start. It answers `/ready` on OPS_PORT, in the manner that MANNER names:
//   good          ready at once, ends on SIGTERM
//   failing       ends before it is ready, after a line that says why
//   never-ready   answers 503
//   with-child    like good, and leaves a process in its group when it is killed
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const manner = process.env['MANNER']
process.on('SIGTERM', () => {
  console.log('asked to end')
  process.exit(0)
})
console.log(`I am ${manner}`)
if (manner === 'failing') {
  console.error('the setting X is wrong')
  process.exit(3)
}
if (manner === 'with-child') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  console.log(`child ${child.pid}`)
}
const server = createServer((_request, response) => {
  response.statusCode = manner === 'never-ready' ? 503 : 200
  response.end(
    JSON.stringify({ environment: process.env['ENVIRONMENT'], secret: process.env['SECRET_FILE'] }),
  )
})
server.listen(Number(process.env['OPS_PORT']), '127.0.0.1')
