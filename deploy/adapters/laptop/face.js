// Draws what the adapter sends. The page asks nobody but the adapter that served it.
const faces = {
  neutral: { mouth: 'M-28 45 H28' },
  smile: { mouth: 'M-34 38 Q0 68 34 38' },
  laugh: { mouth: 'M-36 34 H36 Q30 70 0 70 Q-30 70 -36 34Z', shut: [0, 1] },
  sad: { mouth: 'M-30 56 Q0 34 30 56', brows: 'M-56 -44 L-28 -54 M28 -54 L56 -44' },
  sleepy: { mouth: 'M-16 48 Q0 54 16 48', shut: [0, 1] },
  surprised: { mouth: 'M-14 48 A14 16 0 1 0 14 48 A14 16 0 1 0 -14 48Z', brows: 'M-56 -50 Q-40 -62 -24 -50 M24 -50 Q40 -62 56 -50' },
  thinking: { mouth: 'M-20 50 Q4 42 26 46', brows: 'M-56 -46 H-26 M26 -58 Q42 -64 56 -54' },
  wink: { mouth: 'M-34 38 Q0 64 34 38', shut: [1] },
}
const at = (id) => document.getElementById(id)
const post = (body) => fetch('input', { method: 'POST', body: JSON.stringify(body) })

// A robot that looks to its left looks to the right of the person before it.
function show(s) {
  const face = faces[s.face] ?? faces.neutral
  at('mood').textContent = s.face
  at('mouth').setAttribute('d', face.mouth)
  at('mouth').classList.toggle('open', face.mouth.endsWith('Z'))
  at('brows').setAttribute('d', face.brows ?? '')
  document.querySelectorAll('.eye').forEach((eye, i) => eye.classList.toggle('shut', (face.shut ?? []).includes(i)))
  at('gaze').setAttribute('transform', `translate(${s.yaw_rad * 40} ${-s.pitch_rad * 40}) rotate(${s.roll_rad * 57})`)
  const main = document.querySelector('main')
  main.className = s.led.pattern ?? ''
  main.classList.toggle('speaking', s.said !== '')
  main.style.setProperty('--led', s.led.colour ?? 'transparent')
  main.style.setProperty('--period', `${s.led.period_ms ?? 2000}ms`)
  at('said').textContent = s.said
  at('note').textContent = s.note
  const screen = JSON.stringify(s.screen)
  if (screen === at('screen').dataset.shown) return // a button under somebody's finger stays
  at('screen').dataset.shown = screen
  const image = document.createElement('img')
  image.src = s.screen.image ?? ''
  image.alt = ''
  at('screen').replaceChildren(...(s.screen.image ? [image] : []), s.screen.text ?? '', ...(s.screen.choices ?? []).map((choice) => {
    const button = document.createElement('button')
    button.textContent = choice.text
    button.onclick = () => post({ choice: choice.id })
    return button
  }))
}

const events = new EventSource('events')
events.onmessage = (message) => show(JSON.parse(message.data))
events.onerror = () => { at('note').textContent = 'The adapter has ended; the page waits for it.' }
const face = at('face')
// Captured, so that the end of a touch is seen wherever it is.
face.addEventListener('pointerdown', (event) => { face.setPointerCapture(event.pointerId); post({ touch: true }) })
face.addEventListener('lostpointercapture', () => post({ touch: false }))
const presses = (event) => event.key === 'Enter' || event.key === ' '
face.addEventListener('keydown', (event) => { if (presses(event) && !event.repeat) post({ touch: true }) })
face.addEventListener('keyup', (event) => { if (presses(event)) post({ touch: false }) })
face.addEventListener('blur', () => post({ touch: false }))
