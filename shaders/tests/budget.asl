//! budget 1000
//! fails TIMEOUT does a loop not end?
shader test()
{
    while (1)
        ;
}
